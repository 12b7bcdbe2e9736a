/** Number of characters of a stamp. The Lua scripts contain the same number. */
export const stampLength = 16;

/**
 * Generates a unique stamp for each write, so that a retry after a lost reply does not take effect twice. A stamp is eight
 * random characters, constant for the store, and eight characters of a counter.
 */
export class Stamps {
  readonly #own: string;
  #count = 0;

  constructor() {
    const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    this.#own = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => alphabet[byte % 64]).join("");
  }

  next(): string {
    return this.#own + (this.#count++).toString(36).padStart(8, "0");
  }
}

/** Returns the text without its stamp. */
export function unstamped(text: string): string {
  return text.slice(stampLength);
}
