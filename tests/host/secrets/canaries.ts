import { createHash } from "node:crypto";

/** Secrets that are planted in the configuration of a host, and looked for in everything that leaves it. */
export interface Canaries {
  readonly count: number;
  /** Returns a new secret. Those with `suffix` have characters that URLs and JSON escape. */
  plant(this: void, suffix?: string): string;
  /** Returns the secrets that a text contains, in any form. */
  foundIn(this: void, text: string): string[];
}

/** Returns an empty set of canaries. */
export function canaries(): Canaries {
  const cores: string[] = [];
  return {
    get count() {
      return cores.length;
    },
    plant(suffix = "") {
      // A digest, because it looks random and is the same in each run.
      const digest = createHash("sha256").update(String(cores.length)).digest("hex");
      const core = `canary${cores.length}x${digest.slice(0, 18)}`;
      cores.push(core);
      return core + suffix;
    },
    foundIn: (text) => cores.filter((core) => formsOf(core).some((form) => text.includes(form))),
  };
}

/** Returns a text and its base64 at each position in other bytes, without the characters at its ends. */
function formsOf(core: string): string[] {
  const encoded = ["", "-", "--"].map((before) => Buffer.from(`${before}${core}`).toString("base64").slice(4, -4));
  return [core, ...encoded];
}
