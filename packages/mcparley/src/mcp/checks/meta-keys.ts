// A separate file, because clients load it at start. `check-metadata.ts` is loaded with the schema reader.

/** Labels separated by dots and a slash, then a name; both are optional (2026-07-28, basic, `_meta`). */
const keyPattern = /^(([a-z]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?\/)?([a-z0-9]([\w.-]*[a-z0-9])?)?$/i;
/** Maximum number of characters of a key. */
const maxLength = 256;

/** Returns whether the specification allows a key in `_meta`. */
export function isMetaKey(key: string): boolean {
  return key.length <= maxLength && keyPattern.test(key);
}
