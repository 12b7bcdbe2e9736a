import { type CryptoKey, type JWK, SignJWT, exportJWK, generateKeyPair } from "jose";

/** An issuer of JWTs that signs any claims, and publishes its keys by `fetch`. */
export interface TokenIssuer {
  readonly issuer: string;
  /** The URLs that were fetched. */
  readonly fetched: string[];
  readonly fetch: typeof fetch;
  /** The public key of the first kid, as its PEM-less JWK. */
  publicKey(): JWK;
  /** Signs claims over good ones; a claim of undefined is left out. */
  sign(claims?: Record<string, unknown>, options?: SignOptions): Promise<string>;
  /** Signs with a new key of this kid from now on. Publishes only this key, or the previous one as well with `beside`. */
  rotate(kid: string, how?: { beside: boolean }): Promise<void>;
  /** Answers with 503 from now on, or no more. */
  down(is: boolean): void;
}

export interface SignOptions {
  header?: { alg?: string; kid?: string | undefined; typ?: string | undefined };
  /** Signs with this key instead of the issuer's. */
  key?: CryptoKey | Uint8Array;
}

interface IssuerOptions {
  issuer: string;
  audience: string;
  /** Seconds since 1970. */
  now: () => number;
}

export async function makeTokenIssuer({ issuer, audience, now }: IssuerOptions): Promise<TokenIssuer> {
  const fetched: string[] = [];
  let isDown = false;
  let kid = "first";
  let pair = await generateKeyPair("ES256");
  let before: JWK[] = [];
  let jwk: JWK = { ...(await exportJWK(pair.publicKey)), kid, alg: "ES256", use: "sig" };
  const documents = (): Record<string, object> => ({
    [`${issuer}/.well-known/oauth-authorization-server`]: { issuer, jwks_uri: `${issuer}/jwks` },
    [`${issuer}/jwks`]: { keys: [...before, jwk] },
  });
  return {
    issuer,
    fetched,
    async fetch(input) {
      const { url } = new Request(input);
      fetched.push(url);
      const document = documents()[url];
      if (isDown || !document) return new Response("", { status: isDown ? 503 : 404 });
      return Response.json(document);
    },
    publicKey: () => jwk,
    async sign(claims = {}, { header = {}, key = pair.privateKey } = {}) {
      const good = { iss: issuer, aud: audience, sub: "alice", iat: now(), exp: now() + 300, scope: "notes:read" };
      return new SignJWT({ ...good, ...claims })
        .setProtectedHeader({ alg: "ES256", kid, typ: "at+jwt", ...header } as { alg: string })
        .sign(key);
    },
    async rotate(next, { beside } = { beside: false }) {
      before = beside ? [jwk] : [];
      kid = next;
      pair = await generateKeyPair("ES256");
      jwk = { ...(await exportJWK(pair.publicKey)), kid, alg: "ES256", use: "sig" };
    },
    down(is) {
      isDown = is;
    },
  };
}
