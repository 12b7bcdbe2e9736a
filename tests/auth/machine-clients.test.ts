import { exportJWK, exportPKCS8, generateKeyPair } from "jose";
import { type ClientCredential, type DpopOptions, clientCredentials, jwtVerifier } from "mcparley/auth";
import { type Client, connect } from "mcparley/client";
import type { ClientMetadata } from "oidc-provider";
import { afterEach, describe, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface World {
  authorization: AuthorizationServer;
  server: ProtectedServer;
  connectAs: (client: ClientCredential, options?: { dpop?: boolean; fetch?: typeof fetch }) => Promise<Client>;
}

interface Setting {
  /** As the authorization server knows the client, beside its id and grant. */
  registered: Partial<ClientMetadata>;
  dpop?: DpopOptions;
  dpopNonce?: boolean;
}

const scope = "notes:write notes:sign";

async function open({ registered, dpop, dpopNonce = false }: Setting): Promise<World> {
  const machine = {
    client_id: "nightly-job",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
    ...registered,
  } as ClientMetadata;
  const enabledJWA = { clientAuthSigningAlgValues: ["ES256", "RS256", "EdDSA"] } as object;
  const authorization = await startAuthorizationServer({
    clients: [machine],
    dpopNonce,
    configuration: { enabledJWA },
  });
  closers.push(() => authorization.close());
  const { issuer, resources } = authorization;
  const server = await serveProtected({
    protect(resource) {
      resources.set(resource, { scope });
      const verifier = jwtVerifier({ issuer, audience: resource });
      return { resource, issuers: [issuer], verifier, ...(dpop && { dpop }) };
    },
  });
  closers.push(() => server.close());
  return {
    authorization,
    server,
    async connectAs(client, { dpop: isBound = false, fetch: sending = fetch } = {}) {
      const auth = clientCredentials({ issuer, client, ...(isBound && { dpop: true }) });
      const connected = await connect(server.url, { auth, fetch: sending });
      closers.push(() => connected.close());
      return connected;
    },
  };
}

async function whoami(client: Client): Promise<object> {
  return JSON.parse((await client.callTool("whoami")) as string) as object;
}

const secret = "correct horse battery staple";

describe("a client is authorized with its own credentials", () => {
  test.each(["client_secret_basic", "client_secret_post"] as const)("by a secret: %s", async (method) => {
    const { connectAs, authorization } = await open({
      registered: { client_secret: secret, token_endpoint_auth_method: method },
    });
    const client = await connectAs({ id: "nightly-job", secret, method });
    expect(await whoami(client)).toMatchObject({ issuer: authorization.issuer, subject: "nightly-job", scopes: [] });
    expect(authorization.tokenRequests).toHaveLength(1);
  });

  test.each(["ES256", "RS256", "EdDSA"])("by a key that signs with %s", async (algorithm) => {
    const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: "k1", alg: algorithm, use: "sig" };
    const { connectAs } = await open({
      registered: {
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_signing_alg: algorithm,
        jwks: { keys: [jwk] },
      } as Partial<ClientMetadata>,
    });
    const pem = await exportPKCS8(privateKey);
    const client = await connectAs({ id: "nightly-job", privateKey: pem, algorithm, keyId: "k1" });
    expect(await whoami(client)).toMatchObject({ subject: "nightly-job" });
  });
});

test("the scopes of a tool are requested when it is called", async () => {
  const { connectAs, authorization } = await open({ registered: { client_secret: secret } });
  const client = await connectAs({ id: "nightly-job", secret });
  expect(await client.callTool("write")).toBe("written");
  expect(authorization.tokenRequests.map((asked) => asked.get("scope"))).toEqual([null, scope]);
});

test("all calls share one token", async () => {
  const { connectAs, authorization } = await open({ registered: { client_secret: secret } });
  const client = await connectAs({ id: "nightly-job", secret });
  await Promise.all([whoami(client), whoami(client), whoami(client)]);
  expect(authorization.tokenRequests).toHaveLength(1);
});

test("the error of an unknown client does not contain its secret", async () => {
  const { connectAs } = await open({ registered: { client_secret: secret } });
  const error = await connectAs({ id: "nightly-job", secret: "s3cr3t-and-wrong" }).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "authorization_failed", data: { error: "invalid_client" } });
  expect(String((error as Error).stack)).not.toContain("s3cr3t");
});

describe("DPoP", () => {
  const registered = { client_secret: secret };
  const client = { id: "nightly-job", secret };

  test("is used if a server accepts no other tokens", async () => {
    const { connectAs } = await open({ registered, dpop: { required: true } });
    const connected = await connectAs(client);
    expect(await whoami(connected)).toMatchObject({ subject: "nightly-job" });
    expect(await whoami(connected)).toMatchObject({ subject: "nightly-job" });
  });

  test("is used if the client requires it, with the nonces of both servers", async () => {
    const { connectAs, authorization } = await open({ registered, dpop: { nonce: true }, dpopNonce: true });
    const connected = await connectAs(client, { dpop: true });
    expect(await whoami(connected)).toMatchObject({ claims: { cnf: { jkt: expect.any(String) } } });
    await Promise.all([whoami(connected), whoami(connected)]);
    // Once without the nonce, and once with it.
    expect(authorization.requests.filter((line) => line === "POST /token")).toHaveLength(2);
  });

  test("a token that is bound to a key is useless without the key", async () => {
    const { connectAs, server } = await open({ registered });
    const shown = new Set<string>();
    const spying: typeof fetch = (input, init) => {
      shown.add(new Headers(init?.headers).get("authorization") ?? "");
      return fetch(input, init);
    };
    await whoami(await connectAs(client, { dpop: true, fetch: spying }));
    const [none, bound] = shown;
    expect(none).toBe("");
    expect(bound).toMatch(/^DPoP ey/);
    expect(shown.size).toBe(2);
    for (const authorization of [bound!, bound!.replace("DPoP", "Bearer")]) {
      expect((await server.call("whoami", { authorization })).status).toBe(401);
    }
  });
});
