import type { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { TextOrigin } from "./messages.ts";
import type { ServerTextKind } from "./server-text.ts";

/** A text of a server that is too long for the conversation. The model reads it by its handle. */
export interface KeptText {
  readonly handle: string;
  readonly kind: ServerTextKind;
  readonly origin: TextOrigin;
  /** The kept bytes of the text, in UTF-8. */
  readonly content: Buffer;
}

/**
 * Keeps long texts of servers in memory, for `read_result`.
 *
 * A host has one store. A handle is valid until the host closes or newer texts need the memory: the text that was not
 * used for the longest time is removed first. Handles are random, so that a model can only read texts whose handle it received.
 */
export interface ResultStore {
  keep(this: void, text: { kind: ServerTextKind; origin: TextOrigin; content: Buffer }): KeptText;
  find(this: void, handle: string): KeptText | undefined;
  /** The bytes of all texts. */
  readonly bytes: number;
}

const MAX_STORE_BYTES = 64 * 1024 * 1024;

/** Returns an empty store. `maxBytes` is the maximum size of all its texts. Default: 64 MiB. */
export function createResultStore({ maxBytes = MAX_STORE_BYTES }: { maxBytes?: number } = {}): ResultStore {
  // A Map keeps the order of insertion: the first entry is the one that was not used for the longest time.
  const texts = new Map<string, KeptText>();
  let bytes = 0;

  function remove(kept: KeptText): void {
    texts.delete(kept.handle);
    bytes -= kept.content.length;
  }

  return {
    keep({ kind, origin, content }) {
      const kept = { handle: `r_${randomBytes(12).toString("base64url")}`, kind, origin, content };
      texts.set(kept.handle, kept);
      bytes += content.length;
      for (const oldest of texts.values()) {
        if (bytes <= maxBytes || oldest === kept) break;
        remove(oldest);
      }
      return kept;
    },
    find(handle) {
      const kept = texts.get(handle);
      if (!kept) return undefined;
      texts.delete(handle);
      texts.set(handle, kept);
      return kept;
    },
    get bytes() {
      return bytes;
    },
  };
}
