import { decodeJwt, generateKeyPair } from "jose";
import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions } from "./options.ts";

const endpoint = "https://as.example/par";

interface Setting {
  world: ScriptedIssuer;
  steps: string[];
  start: (options?: OAuthOptions) => OAuth;
}

/** An issuer with an endpoint for pushed authorization requests. */
function setting(): Setting {
  const world = scriptedIssuer();
  world.metadata.pushed_authorization_request_endpoint = endpoint;
  world.resourceMetadata!.scopes_supported = ["notes:read"];
  const storage = memoryCredentials();
  const steps: string[] = [];
  const onStep = (step: string): void => void steps.push(step);
  const start = (options: OAuthOptions = {}): OAuth =>
    oauth({ storage, signIn: world.person(), fetch: world.fetch, onStep, ...options });
  return { world, steps, start };
}

const pushed = ({ pushedRequests }: ScriptedIssuer): Promise<URLSearchParams[]> =>
  Promise.all(pushedRequests.map(async (request) => new URLSearchParams(await request.clone().text())));

describe("an issuer with an endpoint for pushed authorization requests (RFC 9126)", () => {
  test("receives all parameters there, and the URL of the page only identifies them", async () => {
    const { world, steps, start } = setting();
    await start().signIn(serverUrl);
    const [parameters] = await pushed(world);
    expect(Object.fromEntries(parameters ?? [])).toEqual({
      response_type: "code",
      client_id: "client-1",
      redirect_uri: "http://127.0.0.1:7777/callback",
      state: expect.stringMatching(/^[\w-]{43}$/),
      scope: "notes:read",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      resource: serverUrl,
    });
    const [url] = world.visits;
    expect(Object.fromEntries(url?.searchParams ?? [])).toEqual({
      client_id: "client-1",
      request_uri: expect.stringMatching(/^urn:/),
      // A sign-in shows the scopes, and recognizes its redirect by the state.
      state: parameters?.get("state"),
      scope: "notes:read",
    });
    expect(steps.join("\n")).not.toContain(encodeURIComponent(url?.searchParams.get("request_uri") ?? ""));
  });

  test.each(["none", "client_secret_post", "client_secret_basic"])(
    "authenticates a client that was registered with %s",
    async (method) => {
      const { world, start } = setting();
      world.isStrict = true;
      world.registeredMethod = method;
      const { clientId } = await start().signIn(serverUrl);
      const [request] = world.pushedRequests;
      const [parameters] = await pushed(world);
      expect(parameters?.get("client_id")).toBe(clientId);
      expect(parameters?.get("client_secret")).toBe(method === "client_secret_post" ? `secret-${clientId}` : null);
      const basic = `Basic ${btoa(`${clientId}:secret-${clientId}`)}`;
      expect(request?.headers.get("authorization")).toBe(method === "client_secret_basic" ? basic : null);
    },
  );

  test("authenticates a client with a key, and tries both methods for a secret without a method", async () => {
    const { world, start } = setting();
    world.clients.add("given");
    const { privateKey } = await generateKeyPair("ES256");
    await start({ client: { id: "given", privateKey } }).signIn(serverUrl);
    const [withKey] = await pushed(world);
    expect(decodeJwt(withKey?.get("client_assertion") ?? "")).toMatchObject({ iss: "given" });

    const other = setting();
    other.world.clients.add("given");
    other.world.answerPush = (sent) =>
      sent.has("client_secret") ? undefined : Response.json({ error: "invalid_client" }, { status: 401 });
    await other.start({ client: { id: "given", secret: "s3cr3t" } }).signIn(serverUrl);
    expect(other.world.pushedRequests).toHaveLength(2);
    expect(other.world.visits[0]?.searchParams.has("request_uri")).toBe(true);
  });

  test("receives a proof of the key to which tokens are bound, with its nonce", async () => {
    const { world, start } = setting();
    world.answerToken = () => Response.json({ access_token: "t", token_type: "DPoP" });
    const nonce = "nonce-1";
    world.answerPush = () =>
      world.pushedRequests.length === 1
        ? Response.json({ error: "use_dpop_nonce" }, { status: 400, headers: { "dpop-nonce": nonce } })
        : undefined;
    await start({ dpop: true }).signIn(serverUrl);
    const proofs = world.pushedRequests.map(({ headers }) => decodeJwt(headers.get("dpop") ?? ""));
    expect(proofs).toMatchObject([
      { htm: "POST", htu: endpoint },
      { htm: "POST", htu: endpoint, nonce },
    ]);
  });
});

const failures: [string, () => Response][] = [
  ["status 500", () => new Response(null, { status: 500 })],
  ["status 404", () => new Response("Not found", { status: 404 })],
  ["a page", () => new Response("<title>Down</title>", { status: 200 })],
  ["an empty document", () => Response.json({}, { status: 201 })],
  ["unauthorized_client", () => Response.json({ error: "unauthorized_client" }, { status: 400 })],
  ["no connection", () => Response.error()],
];

describe("an endpoint for pushed authorization requests that fails", () => {
  test.each(failures)("with %s is replaced by the parameters in the URL", async (_, answer) => {
    const { world, start } = setting();
    world.answerPush = answer;
    await start().signIn(serverUrl);
    expect(world.visits[0]?.searchParams.get("code_challenge")).toMatch(/^[\w-]{43}$/);
    expect(world.registrations).toHaveLength(1);
  });

  test.each(failures)("with %s ends the sign-in before a page opens if the issuer requires it", async (_, answer) => {
    const { world, start } = setting();
    world.metadata.require_pushed_authorization_requests = true;
    world.answerPush = answer;
    await expect(start().signIn(serverUrl)).rejects.toMatchObject({ code: "authorization_failed" });
    expect(world.visits).toEqual([]);
  });

  test("because it is missing ends the sign-in if the issuer requires it", async () => {
    const { world, start } = setting();
    world.metadata.require_pushed_authorization_requests = true;
    delete world.metadata.pushed_authorization_request_endpoint;
    await expect(start().signIn(serverUrl)).rejects.toMatchObject({ code: "authorization_failed" });
    expect(world.visits).toEqual([]);
  });

  test("because the client was deleted leads to a new registration if the issuer requires it", async () => {
    const { world, start } = setting();
    world.metadata.require_pushed_authorization_requests = true;
    world.answerPush = () =>
      world.pushedRequests.length === 1 ? Response.json({ error: "invalid_client" }, { status: 401 }) : undefined;
    await start().signIn(serverUrl);
    expect(world.registrations).toHaveLength(2);
    expect(world.visits).toHaveLength(1);
  });

  test.each([
    ["invalid_client", 401],
    // As Keycloak.
    ["invalid_request", 401],
    ["unauthorized_client", 400],
  ])("with %s, because the client is unknown, ends the sign-in before a page opens", async (error, status) => {
    const { world, start } = setting();
    world.answerPush = () => Response.json({ error }, { status });
    world.answerToken = () =>
      Response.json({ error: "invalid_client", error_description: "No such client" }, { status: 401 });
    await expect(start({ client: { id: "unknown" } }).signIn(serverUrl)).rejects.toMatchObject({
      code: "authorization_failed",
      message: expect.stringMatching(
        /invalid_client \(No such client\)\. Check the id, the secret and the method/,
      ) as string,
      data: { error: "invalid_client" },
    });
    expect(world.visits).toEqual([]);
  });

  test("because it refuses public clients is replaced by the parameters in the URL", async () => {
    const { world, start } = setting();
    world.clients.add("public");
    world.answerPush = () => Response.json({ error: "invalid_client" }, { status: 401 });
    await start({ client: { id: "public" } }).signIn(serverUrl);
    expect(world.visits[0]?.searchParams.get("code_challenge")).toMatch(/^[\w-]{43}$/);
  });

  test("because of the scopes ends the sign-in with the reason before a page opens", async () => {
    const { world, start } = setting();
    world.answerPush = () =>
      Response.json({ error: "invalid_scope", error_description: "No notes:read" }, { status: 400 });
    await expect(start().signIn(serverUrl)).rejects.toMatchObject({
      code: "authorization_failed",
      message: expect.stringContaining("invalid_scope (No notes:read)") as string,
    });
    expect(world.visits).toEqual([]);
  });

  test("and repeats the request in its error leaves no secret in messages and steps", async () => {
    const { world, steps, start } = setting();
    world.isStrict = true;
    world.registeredMethod = "client_secret_post";
    world.metadata.require_pushed_authorization_requests = true;
    let sent: string[] = [];
    world.answerPush = (parameters) => {
      sent = ["state", "code_challenge", "client_secret"].map((name) => parameters.get(name) ?? "");
      return Response.json({ error: "invalid_request", error_description: sent.join(" ") }, { status: 400 });
    };
    const error: unknown = await start()
      .signIn(serverUrl)
      .catch((thrown: unknown) => thrown);
    const texts = JSON.stringify([error, String(error), steps]);
    expect(texts).toContain("invalid_request");
    expect(sent).toEqual(Array(3).fill(expect.stringMatching(/.{8}/)));
    for (const secret of sent) expect(texts).not.toContain(secret);
  });

  test("is not used after the sign-in was aborted", async () => {
    const { world, start } = setting();
    const controller = new AbortController();
    world.answerPush = () => {
      controller.abort(new Error("stopped"));
      return new Response(null, { status: 500 });
    };
    await expect(start().signIn(serverUrl, { signal: controller.signal })).rejects.toThrow("stopped");
    expect(world.visits).toEqual([]);
  });
});

describe("an optional pushed request of a client with a wrong secret", () => {
  test.each([
    ["invalid_client", "invalid_client"],
    ["unauthorized_client", "unauthorized_client"],
    ["invalid_request", "unauthorized_client"],
  ])("ends the sign-in before a page opens: %s, and %s at the token endpoint", async (push, token) => {
    const { world, start } = setting();
    world.answerPush = () => Response.json({ error: push }, { status: 401 });
    world.answerToken = () => Response.json({ error: token }, { status: 401 });
    const client = { id: "manual", secret: "wrong", method: "client_secret_post" } as const;
    await expect(start({ client }).signIn(serverUrl)).rejects.toMatchObject({
      code: "authorization_failed",
      message: expect.stringContaining("Check the id, the secret and the method of the option `client`.") as string,
    });
    expect(world.visits).toEqual([]);
  });
});

describe("an optional pushed request of a client with a secret that may not use refresh tokens", () => {
  const refusal = (error: string, status: number) => (): Response => Response.json({ error }, { status });
  const client = { id: "manual", secret: "s3cr3t", method: "client_secret_post" } as const;

  test.each<[string, () => Response]>([
    ["invalid_request with status 400", refusal("invalid_request", 400)],
    ["unauthorized_client with status 400", refusal("unauthorized_client", 400)],
    ["an empty body with status 400", () => new Response(null, { status: 400 })],
    ["an empty body with status 401", () => new Response(null, { status: 401 })],
    ["a challenge", () => new Response(null, { status: 401, headers: { "www-authenticate": "Basic" } })],
    ["a page with status 404", () => new Response("Not found", { status: 404 })],
    ["an empty body with status 405", () => new Response(null, { status: 405 })],
  ])("is replaced by the parameters in the URL after %s", async (_, answer) => {
    const { world, start } = setting();
    world.clients.add("manual");
    world.answerPush = answer;
    world.answerToken = (sent) =>
      sent.get("grant_type") === "refresh_token" ? refusal("unauthorized_client", 400)() : undefined;
    await start({ client }).signIn(serverUrl);
    expect(world.visits[0]?.searchParams.get("code_challenge")).toMatch(/^[\w-]{43}$/);
  });

  test("ends the sign-in before a page opens if the endpoint refuses the secret", async () => {
    const { world, start } = setting();
    world.answerPush = refusal("invalid_client", 401);
    world.answerToken = refusal("unauthorized_client", 400);
    await expect(start({ client }).signIn(serverUrl)).rejects.toMatchObject({ code: "authorization_failed" });
    expect(world.visits).toEqual([]);
  });
});
