import { base64url } from "jose";
import type { Clock } from "../../rpc/clock.ts";

/** Milliseconds after which a new nonce is given out; the one before is still taken. */
const period = 120_000;

/**
 * The nonces that proofs must hold (RFC 9449, 8): each is the time it was made in, authenticated, so that nothing has to
 * be remembered and all who share the secret take each other's.
 */
export class DpopNonces {
  readonly #clock: Clock;
  readonly #key: Promise<CryptoKey>;
  #current: { at: number; nonce: Promise<string> } | undefined;

  /** `secret` has at least 32 bytes. */
  constructor(secret: Uint8Array<ArrayBuffer>, clock: Clock) {
    this.#clock = clock;
    this.#key = crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  }

  /** The nonce to be used from now on. */
  current(): Promise<string> {
    const at = this.#period();
    if (this.#current?.at !== at) this.#current = { at, nonce: this.#make(at) };
    return this.#current.nonce;
  }

  /** Whether a nonce is the current one, or the one before. Any other tells nothing: all are public. */
  async accepts(nonce: unknown): Promise<boolean> {
    return nonce === (await this.current()) || nonce === (await this.#make(this.#period() - 1));
  }

  #period(): number {
    return Math.floor(this.#clock.now() / period);
  }

  async #make(at: number): Promise<string> {
    const signed = await crypto.subtle.sign("HMAC", await this.#key, new TextEncoder().encode(`dpop nonce ${at}`));
    return base64url.encode(new Uint8Array(signed));
  }
}
