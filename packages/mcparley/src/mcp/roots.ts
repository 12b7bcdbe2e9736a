import { LocalError } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";

/** A directory or file that the client considers relevant: guidance, not access control. */
export interface Root {
  /** A `file://` URI. */
  uri: string;
  name?: string;
  _meta?: JsonObject;
}

export interface ListRootsResult {
  roots: Root[];
  _meta?: JsonObject;
}

/** Checks what a client answered to `roots/list`; entries that are not roots are left out. */
export function readRoots(result: unknown): Root[] {
  if (!isObject(result) || !Array.isArray(result.roots)) {
    throw new LocalError("invalid_message", 'The client answered roots/list without an array "roots".');
  }
  return result.roots.filter((root): root is Root => isObject(root) && typeof root.uri === "string");
}
