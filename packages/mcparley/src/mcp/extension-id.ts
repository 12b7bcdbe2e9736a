/** Labels with dots between them, a slash and a name (2026-07-28, basic, `_meta`): the prefix is mandatory. */
const idPattern = /^([a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/[a-z0-9](?:[\w.-]*[a-z0-9])?$/i;

/** Throws for an identifier that is not a prefixed `_meta` key. */
export function checkExtensionId(id: string): void {
  if (id.length > 256 || !idPattern.test(id)) {
    throw new TypeError(`An extension's id must look like "com.example/feature"; got ${JSON.stringify(id)}.`);
  }
}
