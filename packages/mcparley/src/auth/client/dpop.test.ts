import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import { ResponseBodyError } from "oauth4webapi";
import { describe, expect, test } from "vitest";
import { type CredentialStorage, memoryCredentials } from "./credentials.ts";
import { dpopKeys, withNonce } from "./dpop.ts";

const issuer = "https://as.example";
const url = new URL("https://mcp.example/mcp?session=1#top");

async function proofOf(headers: Promise<Record<string, string>>): Promise<string> {
  return (await headers).dpop ?? "";
}

/** The thumbprint of the key that a proof was made with. */
async function keyOf(proof: string): Promise<string> {
  return calculateJwkThumbprint(decodeProtectedHeader(proof).jwk!);
}

function response(status: number, headers: Record<string, string>): { status: number; headers: Headers } {
  return { status, headers: new Headers(headers) };
}

describe("a proof", () => {
  test("is signed over the method, the URL without its query, and the token", async () => {
    const prover = await dpopKeys()(issuer);
    // The token, and below its digest, are those of RFC 9449, 7.1.
    const token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
    const { authorization, dpop = "" } = await prover.headers(token, url, "POST");
    expect(authorization).toBe(`DPoP ${token}`);
    const { jwk, ...header } = decodeProtectedHeader(dpop);
    expect(header).toEqual({ alg: "ES256", typ: "dpop+jwt" });
    expect(Object.keys(jwk!).toSorted()).toEqual(["crv", "kty", "x", "y"]);
    const { payload } = await jwtVerify(dpop, await importJWK(jwk!, "ES256"));
    expect(payload).toEqual({
      jti: expect.any(String),
      iat: expect.any(Number),
      htm: "POST",
      htu: "https://mcp.example/mcp",
      ath: "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo",
    });
  });

  test("is new for each request", async () => {
    const prover = await dpopKeys()(issuer);
    const proofs = await Promise.all([1, 2, 3].map(() => proofOf(prover.headers("token", url, "POST"))));
    expect(new Set(proofs.map((proof) => decodeJwt(proof).jti)).size).toBe(3);
  });
});

describe("a nonce", () => {
  const refusal = { "www-authenticate": 'DPoP error="use_dpop_nonce", algs="ES256"' };

  test("is in the next proof for the origin of the server that requires it", async () => {
    const prover = await dpopKeys()(issuer);
    expect(prover.readNonce(url, response(401, { ...refusal, "dpop-nonce": "n1" }))).toBe(true);
    expect(decodeJwt(await proofOf(prover.headers("token", url, "GET"))).nonce).toBe("n1");
    const other = new URL("https://other.example/mcp");
    expect(decodeJwt(await proofOf(prover.headers("token", other, "GET")))).not.toHaveProperty("nonce");
  });

  test("in any other response replaces the stored one, and the request is not repeated", async () => {
    const prover = await dpopKeys()(issuer);
    prover.readNonce(url, response(401, { ...refusal, "dpop-nonce": "n1" }));
    expect(prover.readNonce(url, response(200, { "dpop-nonce": "n2" }))).toBe(false);
    expect(prover.readNonce(url, response(200, {}))).toBe(false);
    expect(decodeJwt(await proofOf(prover.headers("token", url, "GET"))).nonce).toBe("n2");
  });

  test.each([
    ["without a nonce", 401, refusal],
    ["for another reason", 401, { "www-authenticate": 'DPoP error="invalid_token"', "dpop-nonce": "n" }],
    ["of another kind", 403, { ...refusal, "dpop-nonce": "n" }],
  ])("is not required by a refusal %s", async (_, status, headers) => {
    const prover = await dpopKeys()(issuer);
    expect(prover.readNonce(url, response(status, headers as Record<string, string>))).toBe(false);
  });

  test("is sent in one repetition of the request if a token endpoint requires it", async () => {
    const refused = new Response(null, { status: 400 });
    const error = new ResponseBodyError("refused", { cause: { error: "use_dpop_nonce" }, response: refused });
    let asked = 0;
    const once = (): Promise<string> => (asked++ === 0 ? Promise.reject(error) : Promise.resolve("token"));
    expect(await withNonce(once)).toBe("token");
    asked = 0;
    await expect(withNonce(() => Promise.reject((asked++, error)))).rejects.toBe(error);
    expect(asked).toBe(2);
    asked = 0;
    const other = new Error("of another kind");
    await expect(withNonce(() => Promise.reject((asked++, other)))).rejects.toBe(other);
    expect(asked).toBe(1);
  });
});

describe("the key", () => {
  const use = async (storage: CredentialStorage | undefined, of = issuer): Promise<string> =>
    keyOf(await proofOf((await dpopKeys(storage)(of)).headers("token", url, "GET")));

  test("differs for each authorization server", async () => {
    const keys = dpopKeys();
    const provers = await Promise.all([keys(issuer), keys(issuer), keys("https://as.example/")]);
    expect(provers[0]).toBe(provers[1]);
    const prints = await Promise.all(
      provers.map(async (prover) => keyOf(await proofOf(prover.headers("t", url, "GET")))),
    );
    expect(prints[0]).not.toBe(prints[2]);
  });

  test("is shared by all processes with one storage, even if two create it at the same time", async () => {
    const storage = memoryCredentials();
    const [first, second] = await Promise.all([use(storage), use(storage)]);
    expect(first).toBe(second);
    expect(await use(storage)).toBe(first);
    expect(await use(storage, "https://other.example")).not.toBe(first);
    expect(await use(undefined)).not.toBe(first);
  });

  test("is requested again after a failure of the storage", async () => {
    const storage = memoryCredentials();
    let isDown = true;
    const get = (key: string): Promise<string | undefined> =>
      isDown ? Promise.reject(new Error("out of reach")) : storage.get(key);
    const keys = dpopKeys({ ...storage, get });
    await expect(keys(issuer)).rejects.toThrow("out of reach");
    isDown = false;
    await expect(keys(issuer)).resolves.toBeDefined();
  });
});
