/** Labels separated by dots and a slash, then a name; both are optional (2026-07-28, basic, `_meta`). */
const keyPattern = /^(([a-z]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?\/)?([a-z0-9]([\w.-]*[a-z0-9])?)?$/i;
/** Characters of a key. */
const maxLength = 256;

export function isMetaKey(key: string): boolean {
  return key.length <= maxLength && keyPattern.test(key);
}

/** Throws a TypeError if the specification forbids a key of `_meta`. `where` is the path of `_meta`. */
export function checkMetaKeys(meta: unknown, where: string): void {
  for (const key in meta as object) {
    if (!isMetaKey(key)) throw new TypeError(`${where} has the invalid key "${key}"`);
  }
}
