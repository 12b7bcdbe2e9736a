import { expect } from "vitest";
import { memoryCredentials, oauth, serverUrl, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { authorized, documentsAsked } from "../world/authorized.ts";
import { metadataUrl, serveProtected } from "../world/protected.ts";

const failed = { code: "authorization_failed" };
const notSignedIn = { code: "sign_in_failed" };
const refused = { code: "forbidden_url" };

proves("authorization.client.token.header", async (world) => {
  const { connect, requests } = authorized(world);
  const client = await connect();
  await client.callTool("greet");
  await client.close();
  const [first, ...others] = requests;
  expect(first?.headers.get("authorization")).toBeNull();
  expect(others.length).toBeGreaterThan(world.isModern ? 1 : 2);
  for (const { headers } of others) expect(headers.get("authorization")).toMatch(/^Bearer access-/);
});

proves("authorization.client.token.not-in-query", async (world) => {
  const { connect, requests, issuer } = authorized(world);
  const client = await connect();
  await client.callTool("greet");
  for (const { url } of requests) expect(url).toBe(serverUrl);
  expect(issuer.asked.join()).not.toMatch(/access-|refresh-|code-\d/);
});

proves("authorization.client.token.of-its-server", async (world) => {
  const { connect, requests, issuer } = authorized(world);
  const storage = memoryCredentials();
  await (await connect({ storage })).close();
  issuer.migrate("https://new.example");
  const before = requests.length;
  await connect({ storage });
  const shown = requests.slice(before).map(({ headers }) => headers.get("authorization") ?? "");
  // The first is the token that the server was given last: from then on it is one of the new issuer.
  expect(issuer.live.has(shown.at(-1)?.replace("Bearer ", "") ?? "")).toBe(true);
  const auth = oauth({ storage, fetch: issuer.fetch });
  const other = new URL("https://other.example/mcp");
  expect(await auth.headers({ url: other, method: "POST", server: other })).toEqual({});
});

proves("authorization.client.token.stored", async (world) => {
  const { connect, issuer } = authorized(world);
  const storage = memoryCredentials();
  const client = await connect({ storage });
  const account = await oauth({ storage }).whoami(serverUrl);
  expect(account?.issuer).toBe("https://as.example");
  for (const token of issuer.live.keys()) expect(JSON.stringify([account, client.server])).not.toContain(token);
  expect(await oauth().whoami(serverUrl)).toBeUndefined();
});

proves("authorization.client.unauthorized", async (world) => {
  const { connect, issuer } = authorized(world);
  const client = await connect();
  issuer.live.clear();
  expect(await client.callTool("greet")).toBe("Hello");
});

proves("authorization.client.server.metadata", async (world) => {
  const { connect, issuer } = authorized(world);
  Object.assign(issuer.metadata, {
    authorization_endpoint: "https://as.example/elsewhere/to/sign/in",
    token_endpoint: "https://as.example/elsewhere/for/tokens",
    registration_endpoint: "https://as.example/elsewhere/to/register",
  });
  await connect();
  expect(issuer.visits[0]?.pathname).toBe("/elsewhere/to/sign/in");
  expect(issuer.asked.filter((line) => line.startsWith("POST"))).toEqual([
    "POST https://as.example/elsewhere/to/register",
    "POST https://as.example/elsewhere/for/tokens",
  ]);
});

proves("authorization.client.server.default-endpoints", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.resourceMetadata = undefined;
  const { metadata } = issuer;
  // This issuer has no metadata; its endpoints are at the default paths of the revision.
  for (const name of ["authorization", "token", "registration"]) {
    metadata[`${name}_endpoint`] = `https://mcp.example/${name === "registration" ? "register" : name}`;
  }
  await connect();
  expect(documentsAsked(issuer).at(-2)).toBe("https://mcp.example/.well-known/oauth-authorization-server");
  expect(issuer.visits[0]?.href).toMatch(/^https:\/\/mcp\.example\/authorize\?/);
  expect(issuer.asked.filter((line) => line.startsWith("POST"))).toEqual([
    "POST https://mcp.example/register",
    "POST https://mcp.example/token",
  ]);
});

proves("authorization.client.server.version-header", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.resourceMetadata = undefined;
  const { fetch } = issuer;
  const versions: (string | null)[] = [];
  issuer.fetch = (input, init) => {
    const { url, headers } = new Request(input, init);
    if (url.includes("oauth-authorization-server")) versions.push(headers.get("mcp-protocol-version"));
    return fetch(input, init);
  };
  await connect({}, { back: () => Promise.reject(new Error("enough")) }).catch(() => {});
  expect(versions).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d$/)]);
});

proves("authorization.client.pkce", async (world) => {
  const { connect, issuer } = authorized(world);
  // The scripted authorization server rejects a verifier that does not match the challenge.
  await connect();
  const [asked] = issuer.authorizations;
  expect(asked?.get("code_challenge_method")).toBe("S256");
  expect(asked?.get("code_challenge")).toMatch(/^[\w-]{43}$/);
  expect(issuer.tokenRequests[0]?.get("code_verifier")).toMatch(/^[\w.~-]{43,128}$/);
});

proves("authorization.client.pkce.advertised", async (world) => {
  const { connect, issuer } = authorized(world);
  delete issuer.metadata.code_challenge_methods_supported;
  await expect(connect()).rejects.toMatchObject(failed);
  expect(issuer.visits).toEqual([]);
});

proves("authorization.client.redirect-uri.secure", async (world) => {
  const { connect, issuer } = authorized(world);
  await expect(connect({}, { redirectUri: "http://app.example/callback" })).rejects.toMatchObject({
    code: "invalid_target",
  });
  expect(issuer.visits).toEqual([]);
  await connect({}, { redirectUri: "https://app.example/callback" });
});

proves("authorization.client.redirect-uri.registered", async (world) => {
  const { connect, issuer } = authorized(world);
  await connect();
  const [asked] = issuer.authorizations;
  expect(issuer.registrations[0]?.redirect_uris).toEqual([asked?.get("redirect_uri")]);
});

proves("authorization.client.https", async (world) => {
  for (const name of ["authorization", "token", "registration"]) {
    const { connect, issuer } = authorized(world);
    issuer.metadata[`${name}_endpoint`] = "http://as.example/endpoint";
    await expect(connect()).rejects.toMatchObject(refused);
    expect(issuer.asked.join()).not.toContain("http://as.example");
  }
});

proves("authorization.client.state", async (world) => {
  const back = (state: string | undefined) => (url: URL) => {
    if (state === undefined) url.searchParams.delete("state");
    else url.searchParams.set("state", state);
    return url;
  };
  for (const state of [undefined, "another"]) {
    const { connect, issuer } = authorized(world);
    await expect(connect({}, { back: back(state) })).rejects.toMatchObject(notSignedIn);
    expect(issuer.tokenRequests).toEqual([]);
  }
});

proves("authorization.client.registration.dynamic", async (world) => {
  const { connect, issuer } = authorized(world);
  await connect();
  expect(issuer.registrations).toHaveLength(1);
  expect(issuer.clients.has(issuer.authorizations[0]?.get("client_id") ?? "")).toBe(true);
});

proves("authorization.client.resource-metadata", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.migrate("https://named.example");
  await connect();
  expect(issuer.visits[0]?.origin).toBe("https://named.example");
});

proves("authorization.client.resource-metadata.challenge", async (world) => {
  const { connect, issuer } = authorized(world);
  await (await connect()).close();
  expect(documentsAsked(issuer)[0]).toBe("https://mcp.example/.well-known/oauth-protected-resource/mcp");
  const { fetch } = issuer;
  issuer.fetch = async (input, init) => {
    const { url } = new Request(input, init);
    if (url === "https://mcp.example/custom") return Response.json(issuer.resourceMetadata);
    const response = await fetch(input, init);
    if (url !== serverUrl || response.status !== 401) return response;
    const challenge = 'Bearer resource_metadata="https://mcp.example/custom"';
    return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
  };
  issuer.asked.length = 0;
  issuer.live.clear();
  await connect();
  expect(documentsAsked(issuer)).toEqual(["https://as.example/.well-known/oauth-authorization-server"]);
});

proves("authorization.client.resource-metadata.well-known", async (world) => {
  const { connect, issuer } = authorized(world);
  const { fetch } = issuer;
  const asked: string[] = [];
  issuer.fetch = async (input, init) => {
    const { url } = new Request(input, init);
    if (url.includes("/oauth-protected-resource")) {
      asked.push(url);
      if (!url.endsWith("/mcp")) return Response.json({ ...issuer.resourceMetadata, resource: "https://mcp.example" });
      return new Response(null, { status: 404 });
    }
    const response = await fetch(input, init);
    return url === serverUrl && response.status === 401 ? new Response(null, { status: 401 }) : response;
  };
  await connect({ acceptResource: ({ resource }) => resource === "https://mcp.example" });
  const wellKnown = "https://mcp.example/.well-known/oauth-protected-resource";
  expect(asked).toEqual([`${wellKnown}/mcp`, wellKnown]);
});

proves("authorization.client.issuer-metadata.order", async (world) => {
  for (const [issuer, paths] of [
    ["https://as.example", ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]],
    [
      "https://as.example/tenant",
      [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
      ],
    ],
  ] as const) {
    const { connect, issuer: scripted } = authorized(world);
    scripted.migrate(issuer);
    const asked: string[] = [];
    const { fetch } = scripted;
    scripted.fetch = (input, init) => {
      const { url } = new Request(input, init);
      if (!url.startsWith("https://as.example") || !url.includes(".well-known")) return fetch(input, init);
      asked.push(url.slice("https://as.example".length));
      const isLast = asked.length === paths.length;
      return Promise.resolve(isLast ? Response.json(scripted.metadata) : new Response(null, { status: 404 }));
    };
    await connect();
    expect(asked).toEqual(paths);
  }
});

proves("authorization.client.issuer-metadata.validated", async (world) => {
  const { connect, issuer } = authorized(world);
  const { fetch } = issuer;
  const honest = { ...issuer.metadata, issuer: "https://honest.example" };
  issuer.fetch = (input, init) =>
    new Request(input, init).url.includes("oauth-authorization-server")
      ? Promise.resolve(Response.json(honest))
      : fetch(input, init);
  await expect(connect()).rejects.toMatchObject(failed);
  expect(issuer.visits).toEqual([]);
  expect(issuer.registrations).toEqual([]);
});

proves("authorization.client.resource", async (world) => {
  const { connect, issuer } = authorized(world);
  await connect();
  expect(issuer.authorizations[0]?.get("resource")).toEqual(serverUrl);
  expect(issuer.tokenRequests[0]?.get("resource")).toEqual(serverUrl);
});

proves("authorization.client.resource.always-sent", async (world) => {
  const { connect, issuer } = authorized(world);
  expect(Object.keys(issuer.metadata).filter((name) => name.includes("resource"))).toEqual([]);
  await connect();
  issuer.live.clear();
  await connect();
  for (const sent of [...issuer.authorizations, ...issuer.tokenRequests]) expect(sent.get("resource")).toBe(serverUrl);
});

proves("authorization.client.resource.no-slash", async (world) => {
  const { issuer } = authorized(world);
  issuer.resourceMetadata = undefined;
  const { fetch } = issuer;
  const atRoot: typeof fetch = (input, init) => {
    const { url } = new Request(input, init);
    if (url === "https://as.example/") return Promise.resolve(new Response(null, { status: 401 }));
    return fetch(input, init);
  };
  await oauth({ signIn: issuer.person(), fetch: atRoot }).signIn("https://as.example");
  expect(issuer.authorizations[0]?.get("resource")).toBe("https://as.example");
});

proves("authorization.client.registration.priority", async (world) => {
  const clientMetadataUrl = "https://app.example/client.json";
  const options = { clientMetadataUrl, client: { id: "given" } };
  const { connect, issuer } = authorized(world);
  issuer.metadata.client_id_metadata_document_supported = true;
  for (const id of ["given", clientMetadataUrl]) issuer.clients.add(id);
  await connect(options);
  await connect({ clientMetadataUrl });
  issuer.metadata.client_id_metadata_document_supported = false;
  await connect({ clientMetadataUrl });
  expect(issuer.authorizations.map((asked) => asked.get("client_id"))).toEqual([
    "given",
    clientMetadataUrl,
    expect.stringMatching(/^client-/),
  ]);
  delete issuer.metadata.registration_endpoint;
  await expect(connect()).rejects.toMatchObject({ ...failed, message: expect.stringContaining("client: { id") });
});

proves("authorization.client.registration.document", async (world) => {
  const clientMetadataUrl = "https://app.example/client.json";
  const { connect, issuer } = authorized(world);
  issuer.metadata.client_id_metadata_document_supported = true;
  issuer.clients.add(clientMetadataUrl);
  await connect({ clientMetadataUrl });
  expect(issuer.authorizations[0]?.get("client_id")).toBe(clientMetadataUrl);
  expect(issuer.registrations).toEqual([]);
});

proves("authorization.client.registration.document.url", () => {
  for (const clientMetadataUrl of ["http://app.example/client.json", "https://app.example", "client.json"]) {
    expect(() => oauth({ clientMetadataUrl })).toThrow(expect.objectContaining({ code: "invalid_target" }));
  }
});

proves("authorization.client.registration.given", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.clients.add("given");
  await connect({ client: { id: "given", secret: "s3cr3t", issuer: "https://as.example" } });
  expect(issuer.tokenAuthorizations).toEqual([`Basic ${btoa("given:s3cr3t")}`]);
  expect(issuer.registrations).toEqual([]);
});

proves("authorization.client.registration.application-type", async (world) => {
  for (const [redirectUri, type] of [
    ["http://127.0.0.1:7777/callback", "native"],
    ["http://localhost:7777/callback", "native"],
    ["https://app.example/callback", "web"],
  ] as const) {
    const { connect, issuer } = authorized(world);
    await connect({}, { redirectUri });
    expect(issuer.registrations[0]?.application_type).toBe(type);
  }
});

proves("authorization.client.registration.refused", async (world) => {
  const { connect, issuer } = authorized(world);
  const { fetch } = issuer;
  const refusal = { error: "invalid_redirect_uri", error_description: "Native clients have no https" };
  issuer.fetch = (input, init) =>
    new Request(input, init).url.endsWith("/register")
      ? Promise.resolve(Response.json(refusal, { status: 400 }))
      : fetch(input, init);
  await expect(connect()).rejects.toMatchObject({
    ...failed,
    message: expect.stringContaining("invalid_redirect_uri (Native clients have no https)"),
  });
});

proves("authorization.client.registration.bound", async (world) => {
  const { connect, issuer } = authorized(world);
  const storage = memoryCredentials();
  await connect({ storage });
  issuer.migrate("https://new.example");
  await connect({ storage });
  const [first, second] = issuer.authorizations.map((asked) => asked.get("client_id"));
  expect(second).not.toBe(first);
  expect(issuer.registrations).toHaveLength(2);
});

proves("authorization.client.registration.given-bound", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.migrate("https://new.example");
  await expect(connect({ client: { id: "given", issuer: "https://as.example" } })).rejects.toMatchObject(failed);
  expect(issuer.visits).toEqual([]);
  expect(issuer.registrations).toEqual([]);
});

proves("authorization.client.registration.apart", async (world) => {
  const { connect, issuer } = authorized(world);
  const storage = memoryCredentials();
  await connect({ storage });
  issuer.resourceMetadata = {
    resource: serverUrl,
    authorization_servers: ["https://new.example", "https://as.example"],
  };
  issuer.live.clear();
  await connect({ storage });
  // The client uses the authorization server whose tokens are stored, and sends nothing to the other one.
  expect(issuer.asked.join()).not.toContain("new.example");
  expect(issuer.tokenRequests.map((sent) => sent.get("grant_type"))).toEqual(["authorization_code", "refresh_token"]);
});

proves("authorization.client.scope.selection", async (world) => {
  for (const [challenge, supported, expected] of [
    ['scope="a b"', ["x"], "a b"],
    ["", ["x", "y"], "x y"],
    ["", undefined, null],
  ] as const) {
    const { connect, issuer } = authorized(world);
    issuer.challenge = challenge;
    issuer.resourceMetadata = { ...issuer.resourceMetadata, ...(supported && { scopes_supported: supported }) };
    await connect();
    expect(issuer.authorizations[0]?.get("scope")).toBe(expected);
  }
});

proves("authorization.client.scope.authoritative", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.challenge = 'scope="unlisted"';
  issuer.resourceMetadata = { ...issuer.resourceMetadata, scopes_supported: ["listed"] };
  await connect();
  expect(issuer.authorizations[0]?.get("scope")).toBe("unlisted");
});

proves("authorization.client.scope.step-up", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.challenge = 'scope="a"';
  const client = await connect();
  issuer.requiredScopes = ["b"];
  expect(await client.callTool("greet")).toBe("Hello");
  expect(issuer.authorizations[1]?.get("scope")?.split(" ")).toContain("b");
});

proves("authorization.client.scope.union", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.challenge = 'scope="a"';
  const client = await connect();
  for (const needed of ["b", "c"]) {
    issuer.requiredScopes = [needed];
    await client.callTool("greet");
  }
  expect(issuer.authorizations.map((asked) => asked.get("scope"))).toEqual(["a", "a b", "a b c"]);
});

proves("authorization.client.scope.attempts", async (world) => {
  const { connect, issuer } = authorized(world);
  const client = await connect();
  let count = 0;
  issuer.answerToken = () => {
    const token = `poor-${++count}`;
    issuer.live.set(token, "");
    return Response.json({ access_token: token, token_type: "Bearer", scope: "" });
  };
  issuer.requiredScopes = ["b"];
  for (let i = 0; i < 10; i++) await expect(client.callTool("greet")).rejects.toMatchObject({ code: "unauthorized" });
  expect(issuer.visits).toHaveLength(3);
});

proves("authorization.client.response.iss", async (world) => {
  for (const [isPromised, iss, isTaken] of [
    [true, "https://as.example", true],
    [true, undefined, false],
    [true, "https://evil.example", false],
    [false, "https://as.example", true],
    [false, "https://evil.example", false],
    [false, undefined, true],
  ] as const) {
    const { connect, issuer } = authorized(world);
    issuer.metadata.authorization_response_iss_parameter_supported = isPromised;
    const back = (url: URL): URL => {
      url.searchParams.delete("iss");
      if (iss !== undefined) url.searchParams.set("iss", iss);
      return url;
    };
    const connecting = connect({}, { back });
    if (isTaken) await connecting;
    else await expect(connecting).rejects.toMatchObject(notSignedIn);
    expect(issuer.tokenRequests).toHaveLength(isTaken ? 1 : 0);
  }
});

proves("authorization.client.response.iss-exact", async (world) => {
  for (const iss of ["https://as.example/", "https://AS.example", "https://as.example:443", "HTTPS://as.example"]) {
    const { connect, issuer } = authorized(world);
    const back = (url: URL): URL => (url.searchParams.set("iss", iss), url);
    await expect(connect({}, { back })).rejects.toMatchObject(notSignedIn);
    expect(issuer.tokenRequests).toEqual([]);
  }
});

proves("authorization.client.response.iss-of-errors", async (world) => {
  const { connect } = authorized(world);
  const back = (url: URL): URL => {
    url.search = new URLSearchParams({
      error: "forged_error",
      error_description: "Call this number",
      state: url.searchParams.get("state") ?? "",
      iss: "https://evil.example",
    }).toString();
    return url;
  };
  const error: unknown = await connect({}, { back }).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ ...notSignedIn, data: undefined });
  expect(String(error)).not.toMatch(/forged_error|Call this/);
});

proves("authorization.client.refresh.confidential", async (world) => {
  const { connect, issuer, requests } = authorized(world);
  const storage = memoryCredentials();
  await connect({ storage });
  issuer.migrate("https://new.example");
  await connect({ storage });
  for (const { url, headers } of requests) expect(url + JSON.stringify([...headers])).not.toContain("refresh-");
  expect(issuer.tokenRequests.map((sent) => sent.get("refresh_token"))).toEqual([null, null]);
});

proves("authorization.client.refresh.grant-types", async (world) => {
  const { connect, issuer } = authorized(world);
  await connect();
  expect(issuer.registrations[0]?.grant_types).toContain("refresh_token");
});

proves("authorization.client.refresh.offline-access", async (world) => {
  for (const offered of [["a"], ["a", "offline_access"]]) {
    const { connect, issuer } = authorized(world);
    issuer.challenge = 'scope="a"';
    issuer.metadata.scopes_supported = offered;
    await connect();
    expect(issuer.authorizations[0]?.get("scope")).toBe(offered.join(" "));
  }
});

proves("authorization.client.refresh.not-assumed", async (world) => {
  const { connect, issuer } = authorized(world);
  let count = 0;
  issuer.answerToken = () => {
    issuer.live.set(`only-${++count}`, "");
    return Response.json({ access_token: `only-${count}`, token_type: "Bearer", expires_in: 60 });
  };
  const client = await connect();
  issuer.live.clear();
  expect(await client.callTool("greet")).toBe("Hello");
  expect(issuer.visits).toHaveLength(2);
});

proves("security.ssrf.discovery", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.resourceMetadata = { resource: serverUrl, authorization_servers: ["https://169.254.169.254"] };
  await expect(connect()).rejects.toMatchObject(refused);
  expect(issuer.asked.join()).not.toContain("169.254");
});

proves("security.ssrf.https", async (world) => {
  const { connect, issuer } = authorized(world);
  issuer.resourceMetadata = { resource: serverUrl, authorization_servers: ["http://as.example"] };
  await expect(connect()).rejects.toMatchObject(refused);
  expect(issuer.asked.join()).not.toContain("http://as.example");
});

proves("security.ssrf.private-addresses", async (world) => {
  for (const address of ["https://10.0.0.1", "https://192.168.0.1", "https://[fd00::1]", "http://127.0.0.1:8080"]) {
    const { connect, issuer } = authorized(world);
    issuer.metadata.token_endpoint = `${address}/token`;
    await expect(connect()).rejects.toMatchObject(refused);
    expect(issuer.tokenRequests).toEqual([]);
  }
});

proves("security.url.authorization", async (world) => {
  for (const endpoint of ["javascript:alert(1)", "file:///etc/passwd", "http://as.example/authorize", "app:sign-in"]) {
    const { connect, issuer } = authorized(world);
    issuer.metadata.authorization_endpoint = endpoint;
    await expect(connect()).rejects.toMatchObject(refused);
    expect(issuer.visits).toEqual([]);
  }
});

proves("security.authorization.mix-up", async (world) => {
  const { connect, issuer } = authorized(world);
  const back = (url: URL): URL => (url.searchParams.set("iss", "https://honest.example"), url);
  await expect(connect({}, { back })).rejects.toMatchObject(notSignedIn);
  expect(issuer.tokenRequests).toEqual([]);
});

proves("security.authorization.http", {
  server: async (world) => {
    const server = await serveProtected(world, { tools: { greet: tool({ call: () => "Hello" }) } });
    const { call, tokens } = server;
    const refusal = await call("greet", undefined);
    expect(refusal.status).toBe(401);
    expect(refusal.headers.get("www-authenticate")).toEqual(
      expect.stringContaining(`resource_metadata="${metadataUrl}"`),
    );
    const token = await tokens.sign();
    const session = await server.open(token);
    expect((await call("greet", token, session === undefined ? {} : { session })).status).toBe(200);
  },
  client: async (world) => {
    const { connect, issuer } = authorized(world);
    const client = await connect();
    expect(await client.callTool("greet")).toBe("Hello");
    expect(issuer.visits).toHaveLength(1);
  },
});
