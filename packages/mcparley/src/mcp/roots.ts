import { LocalError } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";

/** A directory or file that the client considers relevant. Not an access control. */
export interface Root {
  /** A `file://` URI. */
  uri: string;
  /** Name for people. Default: none. */
  name?: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Validates the result of `roots/list`. Invalid entries are ignored. */
export function readRoots(result: unknown): Root[] {
  if (!isObject(result) || !Array.isArray(result.roots)) {
    throw new LocalError("invalid_message", 'The response to roots/list must contain an array "roots".');
  }
  return result.roots.filter((root): root is Root => isObject(root) && typeof root.uri === "string");
}
