/** Characters of a stamp. The scripts know it too. */
export const stampLength = 16;

/**
 * Marks each write, so that one that is tried again after its reply was lost is not carried out twice. A stamp is eight
 * random characters of the store and eight of a counter.
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

/** What follows the stamp. */
export function unstamped(text: string): string {
  return text.slice(stampLength);
}
