import { type JsonObject, isObject } from "../../rpc/messages.ts";

/** The types of the optional members of entries, of their annotations, and of the arguments of prompts. */
const types: ReadonlyMap<string, string> = /* @__PURE__ */ (() =>
  new Map([
    ...["title", "description", "mimeType", "lastModified"].map((name) => [name, "string"] as const),
    ...["size", "priority"].map((name) => [name, "number"] as const),
    ...["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "required"].map(
      (name) => [name, "boolean"] as const,
    ),
    ...["annotations", "outputSchema", "_meta"].map((name) => [name, "object"] as const),
    ...["arguments", "audience", "icons"].map((name) => [name, "list"] as const),
  ]))();

/**
 * Returns an entry of a list without optional members of a wrong type, such as the null that some servers write for an omitted member.
 * `leftOut` is called with the name of each one, unless it is null. An entry without such members is returned unchanged.
 */
export function withValidMembers(entry: JsonObject, leftOut: (name: string) => void): JsonObject {
  let valid = entry;
  for (const name in entry) {
    const type = types.get(name);
    const value = entry[name];
    const member = type === undefined ? value : readMember(name, value, { type, leftOut });
    if (member === value) continue;
    if (member === undefined && value !== null) leftOut(name);
    if (valid === entry) valid = { ...entry };
    if (member === undefined) delete valid[name];
    else valid[name] = member;
  }
  return valid;
}

/** Returns a member, its valid part, or undefined if it has a wrong type. */
function readMember(
  name: string,
  value: unknown,
  { type, leftOut }: { type: string; leftOut: (name: string) => void },
): unknown {
  if (type === "object") {
    if (!isObject(value)) return undefined;
    return name === "annotations" ? withValidMembers(value, leftOut) : value;
  }
  if (type !== "list") return typeof value === type ? value : undefined;
  if (!Array.isArray(value)) return undefined;
  if (name !== "arguments") return value;
  const items = value.filter((item): item is JsonObject => isObject(item) && typeof item.name === "string");
  const read = items.map((item) => withValidMembers(item, leftOut));
  return read.length === value.length && read.every((item, index) => item === value[index]) ? value : read;
}
