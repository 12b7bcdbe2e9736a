/**
 * The names of a store's keys and channels in Redis. Each name is wrapped in a hash tag, so that a value, a log and a
 * channel of the same name are in the same slot of a cluster.
 */
export class Names {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  value(key: string): string {
    return `${this.#prefix}value:{${key}}`;
  }

  log(log: string): string {
    return `${this.#prefix}log:{${log}}`;
  }

  channel(channel: string): string {
    return `${this.#prefix}channel:{${channel}}`;
  }
}

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
