import { EmbeddedJWK, type JWTVerifyResult, calculateJwkThumbprint, jwtVerify } from "jose";
import type { RequestHead } from "../../http/exchange.ts";
import type { Clock } from "../../rpc/clock.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { digest } from "../../rpc/digest.ts";
import type { DpopNonces } from "./dpop-nonces.ts";

/** A proof that is missing, or not one for this request. Its message is sent to the client. */
export class InvalidProof extends Error {
  override readonly name: string = "InvalidProof";
  readonly code: "invalid_dpop_proof" | "use_dpop_nonce";

  constructor(message: string, code: "invalid_dpop_proof" | "use_dpop_nonce" = "invalid_dpop_proof") {
    super(message);
    this.code = code;
  }
}

/** The algorithms that proofs may be signed with: those that clients make keys for anew. */
export const proofAlgorithms: readonly string[] = ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "RS256"];

export interface ProofsOptions {
  /** The URL that clients send their requests to. */
  resource: string;
  /** Undefined where proofs need none. */
  nonces: DpopNonces | undefined;
  /** Seconds after which a proof is too old. */
  maxAge: number;
  clock: Clock;
}

/** A token, the thumbprint of the key that it is bound to, and the store of the server that received it. */
export interface BoundToken {
  token: string;
  jkt: string;
  store: Store | undefined;
}

/** Characters of a proof; a larger one is not looked at. */
const maxProof = 8_192;
/** Seconds by which the clock of a client may be ahead. */
const ahead = 10;

/** Checks that whoever shows a token holds the key that it is bound to (RFC 9449, 4.3 and 7). */
export class DpopProofs {
  readonly #options: ProofsOptions;
  /** The used proofs if the server has no store: the last 100,000. */
  readonly #memory: Store;

  constructor(options: ProofsOptions) {
    this.#options = options;
    this.#memory = memoryStore({ clock: options.clock });
  }

  /** The nonce for the client's next proof; undefined where none is asked for. */
  async nonce(): Promise<string | undefined> {
    return this.#options.nonces?.current();
  }

  /**
   * Throws `InvalidProof` unless the request has an unused proof for this token and its key. `store` is the server's store,
   * if any; it remembers the used proofs.
   */
  async check(request: RequestHead, { token, jkt, store }: BoundToken): Promise<void> {
    const { payload, protectedHeader } = await this.#verify(request.header("dpop"));
    if (!protectedHeader.jwk || (await calculateJwkThumbprint(protectedHeader.jwk)) !== jkt)
      throw new InvalidProof("The proof is signed with another key than the token is bound to.");
    if (payload.htm !== request.method) throw new InvalidProof("The proof is for another method.");
    if (!this.#isFor(request, payload.htu)) throw new InvalidProof("The proof is for another URL.");
    if (payload.ath !== (await digest(token))) throw new InvalidProof("The proof is for another token.");
    const { nonces } = this.#options;
    if (nonces && !(await nonces.accepts(payload.nonce)))
      throw new InvalidProof("The proof needs the nonce of this response.", "use_dpop_nonce");
    await this.#useUp(jkt, payload.jti, store ?? this.#memory);
  }

  async #verify(proof: string | undefined): Promise<JWTVerifyResult> {
    const { clock, maxAge } = this.#options;
    if (proof === undefined) throw new InvalidProof("The token is bound to a key: a DPoP proof is needed.");
    if (proof.length > maxProof) throw new InvalidProof(`The proof has more than ${maxProof} characters.`);
    try {
      return await jwtVerify(proof, EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: [...proofAlgorithms],
        requiredClaims: ["jti", "htm", "htu", "iat", "ath"],
        maxTokenAge: maxAge,
        clockTolerance: ahead,
        currentDate: new Date(clock.now()),
      });
    } catch {
      throw new InvalidProof("The proof does not verify, or is not of now.");
    }
  }

  /**
   * Whether a proof is for the URL of this request: as clients know it, or as it arrived, which is another where a proxy
   * stands before this server or the path is one of those of HTTP+SSE.
   */
  #isFor({ path }: RequestHead, htu: unknown): boolean {
    const { resource } = this.#options;
    if (typeof htu !== "string" || !URL.canParse(htu)) return false;
    const { origin, pathname } = new URL(htu);
    const known = new URL(resource);
    return origin === known.origin && (pathname === known.pathname || pathname === path);
  }

  /** A proof serves once. What is remembered has one length, whatever the client chose. */
  async #useUp(jkt: string, jti: unknown, store: Store): Promise<void> {
    if (typeof jti !== "string") throw new InvalidProof("The proof needs a jti that is a text.");
    const { maxAge } = this.#options;
    const key = `dpop:${await digest(`${jkt} ${jti}`)}`;
    const isFirst = await store.compareAndSet(key, undefined, "1", { ttl: (maxAge + 2 * ahead) * 1000 });
    if (!isFirst) throw new InvalidProof("The proof was used before.");
  }
}
