/**
 * What a store calls its things in Redis. What has the same name is in the same slot of a cluster, whatever its kind,
 * and a name cannot choose its slot: it is within a hash tag of its own.
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

/** Digits of the two halves of an entry's id, so that positions compare as strings. */
const timeDigits = 15;
const countDigits = 6;

/** The position for the id that a stream gave to an entry. */
export function positionOf(id: string): string {
  const [time = "", count = ""] = id.split("-");
  return `${time.padStart(timeDigits, "0")}-${count.padStart(countDigits, "0")}`;
}

/** The id for a position; undefined for what is none. */
export function idOf(position: string): string | undefined {
  const [, time, count] = /^(\d{15,19})-(\d{6,19})$/.exec(position) ?? [];
  return time === undefined || count === undefined ? undefined : `${BigInt(time)}-${BigInt(count)}`;
}
