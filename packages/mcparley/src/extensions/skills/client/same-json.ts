import { isObject } from "../../../rpc/messages.ts";

/** Where two JSON values differ first, such as `metadata.version`; undefined where they do not. */
export function difference(one: unknown, other: unknown, path = "front matter"): string | undefined {
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return path;
    return firstOf(
      one.map((_, index) => String(index)),
      (index) => difference(one[Number(index)], other[Number(index)], `${path}[${index}]`),
    );
  }
  if (isObject(one) && isObject(other)) {
    return firstOf(new Set([...Object.keys(one), ...Object.keys(other)]), (key) => {
      const isInBoth = Object.hasOwn(one, key) && Object.hasOwn(other, key);
      return isInBoth ? difference(one[key], other[key], `${path}.${key}`) : `${path}.${key}`;
    });
  }
  return one === other ? undefined : path;
}

function firstOf(keys: Iterable<string>, find: (key: string) => string | undefined): string | undefined {
  for (const key of keys) {
    const found = find(key);
    if (found !== undefined) return found;
  }
  return undefined;
}
