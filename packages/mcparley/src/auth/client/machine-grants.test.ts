import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, test } from "vitest";
import type { HttpAuth, HttpAuthRefusal } from "../../http/client/settings.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import {
  type AnswerToken,
  type TokenServer,
  authorizationDocuments,
  tokenServer,
} from "mcparley-tests/support/token-server.ts";
import { clientCredentials } from "./machine-grants.ts";
import type { ClientCredentialsOptions } from "./options.ts";
import { memoryCredentials } from "./credentials.ts";

const server = new URL("https://mcp.example/mcp");
const issuer = "https://as.example";
const request = { url: server, method: "POST", server };
const never = new AbortController().signal;

interface Machine extends TokenServer {
  auth: HttpAuth;
  clock: FakeClock;
  /** Returns the `Authorization` header of the next request. */
  shown: () => Promise<string | undefined>;
  /** Refuses a request that was sent with the header of the next request. */
  refuse: (refusal?: Partial<HttpAuthRefusal> & { challenge?: string }) => Promise<boolean>;
}

interface Given {
  options?: Partial<ClientCredentialsOptions>;
  documents?: Record<string, unknown>;
  answer?: AnswerToken;
}

function machine({ options = {}, documents = authorizationDocuments(), answer = counted() }: Given = {}): Machine {
  const served = tokenServer(documents, answer);
  const clock = fakeClock();
  const auth = clientCredentials({
    issuer,
    client: { id: "machine", secret: "s3cr3t" },
    fetch: served.fetch,
    clock,
    ...options,
  });
  const shown = async (): Promise<string | undefined> => (await auth.headers(request)).authorization;
  const refuse: Machine["refuse"] = async ({ challenge, ...refusal } = {}) => {
    const headers = new Headers({ "www-authenticate": challenge ?? "Bearer" });
    const given = {
      status: 401,
      headers,
      request,
      shown: await auth.headers(request),
      repeated: 0,
      challenges: 0,
      ...refusal,
    };
    return auth.challenged(given, never);
  };
  return { ...served, auth, clock, shown, refuse };
}

/** Returns an answer function that issues numbered tokens, each valid for an hour. */
function counted(more: object = {}): AnswerToken {
  let count = 0;
  return () => ({ access_token: `t${++count}`, token_type: "Bearer", expires_in: 3600, ...more });
}

const failed = { name: "LocalError", code: "authorization_failed" };

test("a token is requested when a server requires one, and sent from then on", async () => {
  const { shown, refuse, tokens, documents } = machine();
  expect(await shown()).toBeUndefined();
  expect(documents).toEqual([]);
  expect(await refuse()).toBe(true);
  expect(await shown()).toBe("Bearer t1");
  expect(await shown()).toBe("Bearer t1");
  expect(tokens.map(({ url, parameters }) => [url, parameters])).toEqual([
    [`${issuer}/token`, { grant_type: "client_credentials", client_id: "machine", resource: server.href }],
  ]);
});

test("each server has its own token if servers share an authorization", async () => {
  const { auth, refuse } = machine();
  await refuse();
  const other = new URL("https://other.example/mcp");
  expect(await auth.headers({ url: other, method: "POST", server: other })).toEqual({});
});

describe("credentials are sent only to their issuer", () => {
  test.each([
    ["another one", ["https://evil.example"]],
    ["one that differs by a slash", [`${issuer}/`]],
  ])("a server that names %s receives no token, and its authorization server receives no request", async (_, named) => {
    const { refuse, tokens, documents } = machine({
      documents: authorizationDocuments({ authorization_servers: named }),
    });
    await expect(refuse()).rejects.toMatchObject({ ...failed, data: { issuers: named } });
    expect(tokens).toEqual([]);
    expect(documents).toEqual(["https://mcp.example/.well-known/oauth-protected-resource/mcp"]);
  });

  test("metadata that names another issuer is rejected", async () => {
    const { refuse, tokens } = machine({ documents: authorizationDocuments({}, { issuer: "https://evil.example" }) });
    await expect(refuse()).rejects.toMatchObject(failed);
    expect(tokens).toEqual([]);
  });

  test("a server without metadata, as in the first revisions, receives a token of the option `issuer`", async () => {
    const documents = authorizationDocuments();
    delete documents["https://mcp.example/.well-known/oauth-protected-resource/mcp"];
    const { refuse, tokens } = machine({ documents });
    expect(await refuse()).toBe(true);
    expect(tokens[0]?.parameters.resource).toBe(server.href);
  });
});

test.each([undefined, "", "as.example"])("the option `issuer` is required: %j", (given) => {
  const options = { issuer: given, client: { id: "machine", secret: "s3cr3t" } } as ClientCredentialsOptions;
  expect(() => clientCredentials(options)).toThrow(expect.objectContaining({ code: "invalid_definition" }));
});

describe("a public server cannot refer to private networks", () => {
  test.each([
    ["its metadata is inside", "https://10.0.0.1/metadata", {}],
    ["the token endpoint is inside", undefined, { token_endpoint: "https://192.168.1.1/token" }],
    ["the token endpoint is on this machine", undefined, { token_endpoint: "http://localhost:1/token" }],
  ])("no credentials are sent if %s", async (_, metadataUrl, metadata) => {
    const documents = metadataUrl ? {} : authorizationDocuments({}, metadata);
    const { refuse, tokens } = machine({ documents });
    const challenge = metadataUrl ? `Bearer resource_metadata="${metadataUrl}"` : "Bearer";
    await expect(refuse({ challenge })).rejects.toMatchObject({ code: "forbidden_url" });
    expect(tokens).toEqual([]);
  });

  test("unless allowPrivateNetwork is set", async () => {
    const { refuse } = machine({
      documents: authorizationDocuments({}, { token_endpoint: "https://192.168.1.1/token" }),
      options: { allowPrivateNetwork: true },
    });
    expect(await refuse()).toBe(true);
  });
});

describe("an expired or refused token", () => {
  test("is replaced before it expires", async () => {
    const { shown, refuse, clock, tokens } = machine();
    await refuse();
    await clock.advance(3_569_999);
    expect(await shown()).toBe("Bearer t1");
    await clock.advance(1);
    expect(await Promise.all([shown(), shown()])).toEqual(["Bearer t2", "Bearer t2"]);
    expect(tokens).toHaveLength(2);
  });

  test("is replaced shortly before it expires if it is short-lived", async () => {
    const { shown, refuse, clock } = machine({ answer: counted({ expires_in: 10 }) });
    await refuse();
    await clock.advance(8_999);
    expect(await shown()).toBe("Bearer t1");
    await clock.advance(1);
    expect(await shown()).toBe("Bearer t2");
  });

  test("is still sent if no new one is issued, and onError receives the failure", async () => {
    let isDown = false;
    const give = counted();
    const errors: Error[] = [];
    const { shown, refuse, clock } = machine({
      options: { onError: (error) => errors.push(error) },
      answer: (asked) => (isDown ? Response.json({ error: "invalid_client" }, { status: 401 }) : give(asked)),
    });
    await refuse();
    isDown = true;
    await clock.advance(3_600_000);
    expect(await shown()).toBe("Bearer t1");
    expect(errors).toMatchObject([failed]);
    isDown = false;
    expect(await shown()).toBe("Bearer t2");
  });

  test("is replaced by the token that another process has stored", async () => {
    const storage = memoryCredentials();
    const answer = counted();
    const [first, second] = [machine({ options: { storage }, answer }), machine({ options: { storage }, answer })];
    await first.refuse();
    expect(await second.shown()).toBe("Bearer t1");
    const old = { shown: { authorization: "Bearer t1" } };
    expect(await Promise.all([first.refuse(old), second.refuse(old)])).toEqual([true, true]);
    expect(await first.shown()).toBe("Bearer t2");
    expect(await second.shown()).toBe("Bearer t2");
    expect(first.tokens.length + second.tokens.length).toBe(2);
  });

  test("is sent until it is refused if its lifetime is unknown", async () => {
    const { shown, refuse, clock } = machine({ answer: counted({ expires_in: undefined }) });
    await refuse();
    await clock.advance(1e9);
    expect(await shown()).toBe("Bearer t1");
    expect(await refuse()).toBe(true);
    expect(await shown()).toBe("Bearer t2");
  });

  test("is replaced once for all refused requests of all connections", async () => {
    const { refuse, shown, tokens } = machine();
    await refuse();
    const old = { shown: { authorization: "Bearer t1" } };
    expect(await Promise.all([refuse(old), refuse(old), refuse(old)])).toEqual([true, true, true]);
    expect(await refuse(old)).toBe(true);
    expect(await shown()).toBe("Bearer t2");
    expect(tokens.length).toBe(2);
  });

  test("is not replaced again if the new one is refused as well", async () => {
    const { refuse, tokens } = machine();
    await refuse();
    await expect(refuse({ repeated: 1 })).rejects.toMatchObject({ code: "unauthorized" });
    expect(tokens).toHaveLength(1);
  });
});

describe("scopes", () => {
  const more = 'Bearer error="insufficient_scope", scope="b c"';

  test.each<[string, Given, string | undefined, string | undefined]>([
    ["those of the challenge", {}, 'Bearer scope="a b"', "a b"],
    [
      "those of the metadata",
      { documents: authorizationDocuments({ scopes_supported: ["x", "y"] }) },
      undefined,
      "x y",
    ],
    ["omitted if neither names any", {}, undefined, undefined],
    ["those of the option", { options: { scope: "mine" } }, 'Bearer scope="a b"', "mine"],
  ])("are %s", async (_, given, challenge, expected) => {
    const { refuse, tokens } = machine(given);
    await refuse(challenge ? { challenge } : {});
    expect(tokens[0]?.parameters.scope).toBe(expected);
  });

  test("that a request lacks are requested together with the present ones, and not twice", async () => {
    const { refuse, shown, tokens } = machine();
    await refuse({ challenge: 'Bearer scope="a b"' });
    expect(await refuse({ status: 403, challenge: more })).toBe(true);
    expect(await shown()).toBe("Bearer t2");
    expect(tokens[1]?.parameters.scope).toBe("a b c");
    expect(await refuse({ status: 403, challenge: more, repeated: 1 })).toBe(false);
    expect(tokens).toHaveLength(2);
  });

  test("that were not granted are requested again", async () => {
    const { refuse, tokens } = machine({ answer: counted({ scope: "a" }) });
    await refuse({ challenge: 'Bearer scope="a b"' });
    expect(await refuse({ status: 403, challenge: more })).toBe(true);
    expect(tokens[1]?.parameters.scope).toBe("a b c");
  });

  test("are not requested after another refusal", async () => {
    const { refuse, tokens } = machine();
    await refuse();
    expect(await refuse({ status: 403, challenge: 'Bearer error="invalid_token", scope="b"' })).toBe(false);
    expect(tokens).toHaveLength(1);
  });
});

describe("DPoP", () => {
  const bound = counted({ token_type: "DPoP" });
  const dpop = async (auth: HttpAuth): Promise<Readonly<Record<string, string>>> => auth.headers(request);

  test("binds the token to a key, and each request proves possession of it", async () => {
    const { auth, refuse, tokens } = machine({ options: { dpop: true }, answer: bound });
    await refuse();
    const asked = tokens[0]?.headers.get("dpop") ?? "";
    expect(decodeJwt(asked)).toMatchObject({ htm: "POST", htu: `${issuer}/token` });
    const { authorization, dpop: proof = "" } = await dpop(auth);
    expect(authorization).toMatch(/^DPoP t\d+$/);
    expect(decodeJwt(proof)).toMatchObject({ htm: "POST", htu: server.href, ath: expect.any(String) });
    const [first, second] = [asked, proof].map((given) => calculateJwkThumbprint(decodeProtectedHeader(given).jwk!));
    expect(await first).toBe(await second);
  });

  test("is used without the option if the server requires it", async () => {
    const documents = authorizationDocuments({ dpop_bound_access_tokens_required: true });
    const { auth, refuse } = machine({ documents, answer: bound });
    await refuse();
    expect((await dpop(auth)).authorization).toMatch(/^DPoP /);
  });

  test("uses the nonces of the token endpoint and of the server separately", async () => {
    const nonces: unknown[] = [];
    const { auth, refuse, tokens } = machine({
      options: { dpop: true },
      answer: ({ headers }) => {
        const { nonce } = decodeJwt(headers.get("dpop") ?? "");
        nonces.push(nonce);
        const wanted = { headers: { "dpop-nonce": "of-as" }, status: 400 };
        return nonce === "of-as" ? bound({} as never) : Response.json({ error: "use_dpop_nonce" }, wanted);
      },
    });
    await refuse();
    expect(nonces).toEqual([undefined, "of-as"]);
    expect(tokens.length).toBe(2);
    expect(decodeJwt((await dpop(auth)).dpop ?? "")).not.toHaveProperty("nonce");
    const challenge = new Headers({ "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "of-rs" });
    expect(auth.responded?.(request, { status: 401, headers: challenge })).toBe(true);
    expect(decodeJwt((await dpop(auth)).dpop ?? "").nonce).toBe("of-rs");
  });

  test.each([
    ["an unbound token", { options: { dpop: true } }, "issued a token that is not bound to a key"],
    ["a bound token that was not requested", { answer: bound }, "issued a token that is bound to a key"],
    [
      "no algorithm in common",
      {
        options: { dpop: true },
        documents: authorizationDocuments({}, { dpop_signing_alg_values_supported: ["PS256"] }),
      },
      'accepts DPoP proofs with ["PS256"], but not with ES256',
    ],
  ] as [string, Given, string][])("fails if there is %s", async (_, given, message) => {
    await expect(machine(given).refuse()).rejects.toMatchObject({
      ...failed,
      message: expect.stringContaining(message),
    });
  });
});

describe("a token that is not issued", () => {
  const refusing =
    (error: string, description?: string): AnswerToken =>
    () =>
      Response.json({ error, ...(description && { error_description: description }) }, { status: 400 });

  test("fails the waiting calls with the reason of the server", async () => {
    const { refuse, tokens } = machine({ answer: refusing("invalid_client", "no such client") });
    await expect(refuse()).rejects.toMatchObject({
      ...failed,
      message:
        'The authorization server "https://as.example" refused to issue tokens: invalid_client (no such client).',
      data: { issuer, error: "invalid_client" },
    });
    expect(tokens).toHaveLength(1);
  });

  test("is requested again by the next call", async () => {
    let isDown = true;
    const give = counted();
    const { refuse, shown } = machine({
      answer: (asked) => (isDown ? new Response("down", { status: 503 }) : give(asked)),
    });
    await expect(refuse()).rejects.toMatchObject(failed);
    isDown = false;
    expect(await refuse()).toBe(true);
    expect(await shown()).toBe("Bearer t1");
  });

  test.each<[string, AnswerToken]>([
    ["is no JSON", () => new Response("s3cr3t-token")],
    ["is of an unknown type", () => ({ access_token: "s3cr3t-token", token_type: "mac" })],
    ["has no token", () => ({ token_type: "Bearer", refresh_token: "s3cr3t-token" })],
    ["is a page", () => new Response('<p>{"access_token": "s3cr3t-token"}')],
    ["repeats its token in its error", () => ({ access_token: "s3cr3t-token", error: "x s3cr3t-token" })],
    ["has a token in the type", () => ({ access_token: "s3cr3t-token", token_type: "mac s3cr3t-token" })],
    ["has a token that cannot be sent", () => ({ access_token: "s3cr3t-token\r\n", token_type: "Bearer" })],
    ["refuses with the secret in the error", refusing("invalid_client", "client_secret=s3cr3t is wrong")],
  ])("leaves no secret in the error: a response that %s", async (_, answer) => {
    const error = await machine({ answer })
      .refuse()
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject(failed);
    const { message, stack, cause, data } = error as Error & { data: unknown };
    expect(`${message}${stack}${String(cause)}${JSON.stringify(data)}`).not.toContain("s3cr3t");
  });

  test("does not delay a request that is aborted", async () => {
    const { auth } = machine({ answer: () => new Promise(() => {}) });
    const controller = new AbortController();
    const headers = new Headers({ "www-authenticate": "Bearer" });
    const waiting = auth.challenged(
      { status: 401, headers, request, shown: {}, repeated: 0, challenges: 0 },
      controller.signal,
    );
    const reason = new Error("given up");
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});
