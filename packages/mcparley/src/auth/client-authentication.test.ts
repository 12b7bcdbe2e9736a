import { type JWK, exportJWK, exportPKCS8, generateKeyPair, importJWK, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { clientAuthentication } from "./client-authentication.ts";
import { type ClientCredential, checkProvable } from "./client-credential.ts";

const issuer = "https://as.example";

/** Returns the body and the `Authorization` header of an authenticated request to the token endpoint. */
async function authenticated(
  credential: Omit<ClientCredential, "id">,
  metadata: object = {},
): Promise<{ body: Record<string, string>; authorization: string | null }> {
  const server = { issuer, ...metadata };
  const [body, headers] = [new URLSearchParams(), new Headers()];
  const authenticate = await clientAuthentication({ id: "my client-1", ...credential })(server);
  await authenticate(server, { client_id: "my client-1" }, body, headers);
  return { body: Object.fromEntries(body), authorization: headers.get("authorization") };
}

const inBody = { body: { client_id: "my client-1", client_secret: "a+b: c" }, authorization: null };
// Only characters that require encoding are encoded, because some servers do not decode the credentials.
const inHeader = { body: { client_id: "my client-1" }, authorization: `Basic ${btoa("my+client-1:a%2Bb%3A+c")}` };

describe("a client secret", () => {
  test.each([
    ["by the method of the metadata", ["client_secret_post", "private_key_jwt"], inBody],
    [
      "by the first supported method of the metadata",
      ["private_key_jwt", "client_secret_basic", "client_secret_post"],
      inHeader,
    ],
    ["in the header if the metadata has no list", undefined, inHeader],
    ["in the header if the list is invalid", "client_secret_post", inHeader],
  ])("is sent %s", async (_, methods, expected) => {
    const metadata = methods === undefined ? {} : { token_endpoint_auth_methods_supported: methods };
    expect(await authenticated({ secret: "a+b: c" }, metadata)).toEqual(expected);
  });

  test("is sent by the configured method, regardless of the metadata", async () => {
    const metadata = { token_endpoint_auth_methods_supported: ["client_secret_basic"] };
    expect(await authenticated({ secret: "a+b: c", method: "client_secret_post" }, metadata)).toEqual(inBody);
  });

  test("is not sent to a server that supports no method for secrets", async () => {
    const refused = authenticated({ secret: "a" }, { token_endpoint_auth_methods_supported: ["private_key_jwt"] });
    await expect(refused).rejects.toMatchObject({
      code: "authorization_failed",
      message: 'The authorization server "https://as.example" accepts no client secret, only ["private_key_jwt"].',
    });
  });
});

describe("a client secret for introspection", () => {
  const [basic, post] = [["client_secret_basic"], ["client_secret_post"]];
  test.each([
    ["the methods of the endpoint", { introspection_endpoint_auth_methods_supported: post }, inBody],
    [
      "the methods of the endpoint, not those of the token endpoint",
      { introspection_endpoint_auth_methods_supported: basic, token_endpoint_auth_methods_supported: post },
      inHeader,
    ],
    [
      "the methods of the token endpoint if the metadata has none of its own",
      { token_endpoint_auth_methods_supported: post },
      inBody,
    ],
    ["client_secret_basic if the metadata has no methods", {}, inHeader],
  ])("is sent by %s", async (_, metadata, expected) => {
    const server = { issuer, ...metadata };
    const [body, headers] = [new URLSearchParams(), new Headers()];
    const client = { id: "my client-1", secret: "a+b: c" };
    const authenticate = await clientAuthentication(client, "introspection_endpoint")(server);
    await authenticate(server, { client_id: client.id }, body, headers);
    expect({ body: Object.fromEntries(body), authorization: headers.get("authorization") }).toEqual(expected);
  });
});

test("a public client sends only its client_id", async () => {
  expect(await authenticated({})).toEqual({ body: { client_id: "my client-1" }, authorization: null });
});

describe("a private key", () => {
  const forms = async (alg: string): Promise<{ pem: string; jwk: JWK; key: CryptoKey; open: JWK }> => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const [pem, jwk, open] = await Promise.all([exportPKCS8(privateKey), exportJWK(privateKey), exportJWK(publicKey)]);
    return { pem, jwk: { ...jwk, alg, kid: "of-the-jwk" }, key: privateKey, open };
  };

  test.each(["ES256", "RS256", "EdDSA", "PS384"])("signs an assertion for the issuer alone: %s", async (alg) => {
    const { pem, jwk, key, open } = await forms(alg);
    const given: [Omit<ClientCredential, "id">, string | undefined][] = [
      [{ privateKey: pem, algorithm: alg, keyId: "k1" }, "k1"],
      [{ privateKey: jwk }, "of-the-jwk"],
      [{ privateKey: key, algorithm: alg }, undefined],
    ];
    for (const [credential, kid] of given) {
      const { body, authorization } = await authenticated(credential);
      expect(body.client_assertion_type).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
      expect(authorization).toBe(null);
      const { payload, protectedHeader } = await jwtVerify(body.client_assertion ?? "", await importJWK(open, alg));
      expect(protectedHeader).toEqual(kid === undefined ? { alg } : { alg, kid });
      const { iat = 0, exp = 0, ...claims } = payload;
      expect(claims).toMatchObject({ iss: "my client-1", sub: "my client-1", aud: issuer, jti: expect.any(String) });
      expect(exp - iat).toBeLessThanOrEqual(60);
    }
  });

  test("in PEM without an algorithm is read as a key for ES256", async () => {
    const { pem } = await forms("ES256");
    const { body } = await authenticated({ privateKey: pem });
    expect(body.client_assertion).toMatch(/^eyJ/);
  });

  test("signs a new assertion for each request", async () => {
    const { pem } = await forms("ES256");
    const authenticate = clientAuthentication({ id: "c", privateKey: pem });
    const sign = async (): Promise<string | null> => {
      const body = new URLSearchParams();
      await (
        await authenticate({ issuer })
      )({ issuer }, { client_id: "c" }, body, new Headers());
      return body.get("client_assertion");
    };
    expect(await sign()).not.toBe(await sign());
  });

  test.each([
    ["no key", "s3cr3t"],
    ["no key in PEM", "-----BEGIN PRIVATE KEY-----\ns3cr3t\n-----END PRIVATE KEY-----"],
    ["a JSON Web Key of no known type", { kty: "s3cr3t" }],
  ])("that is %s is rejected, and the error does not contain it", async (_, privateKey) => {
    const error = (await authenticated({ privateKey }).catch((caught: unknown) => caught)) as Error;
    expect(error).toMatchObject({ code: "authorization_failed" });
    expect(error.cause).toBeUndefined();
    expect(error.message).toContain("PKCS #8 in PEM");
    expect(error.message).not.toContain("s3cr3t");
  });
});

test.each([
  ["a `client` option", undefined as never, "client.id is required: the client ID at the authorization server."],
  ["an id", { id: "", secret: "s" }, "client.id is required: the client ID at the authorization server."],
  ["a secret or a key", { id: "c" }, "client.secret or client.privateKey is required to authenticate the client."],
  ["a non-empty secret", { id: "c", secret: "" }, expect.stringContaining("client.secret")],
])("a confidential client needs %s", (_, client, message) => {
  expect(() => checkProvable(client)).toThrow(expect.objectContaining({ code: "invalid_definition", message }));
  expect(() => checkProvable({ id: "c", secret: "s" })).not.toThrow();
});
