/* How a store represents positions and values in Redis. */

/** Numbers of digits of the two halves of an entry's id. They are padded so that positions compare as strings. */
const timeDigits = 15;
const countDigits = 6;

/** Returns the position for an entry's id in a Redis stream. */
export function positionOf(id: string): string {
  const [time = "", count = ""] = id.split("-");
  return `${time.padStart(timeDigits, "0")}-${count.padStart(countDigits, "0")}`;
}

/** Returns the stream id for a position, or undefined for an invalid position. */
export function idOf(position: string): string | undefined {
  const [, time, count] = /^(\d{15,19})-(\d{6,19})$/.exec(position) ?? [];
  return time === undefined || count === undefined ? undefined : `${BigInt(time)}-${BigInt(count)}`;
}

/** Number of characters of a stamp. The Lua scripts contain the same number. */
export const stampLength = 16;

/**
 * Returns a function that returns a unique stamp for each write. Each value and message is sent after its stamp, so that a
 * retry after a lost reply does not take effect twice. A stamp is eight random characters, constant for the store, and
 * eight characters of a counter.
 */
export function stampGenerator(): () => string {
  const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  const ofStore = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => alphabet[byte % 64]).join("");
  let count = 0;
  return () => ofStore + (count++).toString(36).padStart(8, "0");
}

/** Returns the text without its stamp. */
export function withoutStamp(text: string): string {
  return text.slice(stampLength);
}
