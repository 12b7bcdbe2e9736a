import { isTable, memberOf } from "../formats/format.ts";
import { type ConfigValue, type ReferenceSyntax, parseValue } from "../values.ts";

/** An invalid entry. `path` leads from the entry to the invalid member. */
export class InvalidEntry extends Error {
  readonly path: readonly string[];

  constructor(message: string, path: readonly string[]) {
    super(message);
    this.path = path;
  }
}

/** Reads the members of an entry. Each method throws `InvalidEntry` for a member of another type. */
export interface EntryReader {
  readonly has: (key: string) => boolean;
  readonly value: (key: string) => ConfigValue | undefined;
  readonly values: (key: string) => readonly ConfigValue[];
  /** Reads an object of texts. `syntax` replaces the syntax of the references. */
  readonly table: (key: string, syntax?: ReferenceSyntax) => ReadonlyMap<string, ConfigValue>;
  /** Returns a text that has no references, such as a type or the name of a variable. */
  readonly word: (key: string) => string | undefined;
  /** Returns names from an array of strings, or of objects with a `name`. */
  readonly names: (key: string) => readonly string[];
  readonly flag: (key: string) => boolean | undefined;
  /** Returns the reader of a table within the entry, or undefined if the member is not a table. */
  readonly inner: (key: string) => EntryReader | undefined;
}

/** Returns the reader of an entry, whose texts have references in the given syntax. */
export function readEntry(value: unknown, syntax: ReferenceSyntax, path: readonly string[] = []): EntryReader {
  if (!isTable(value)) throw new InvalidEntry("The entry must be an object", path);
  const get = (key: string): unknown => memberOf(value, key) ?? undefined;
  const fail = (what: string, ...keys: readonly string[]): InvalidEntry =>
    new InvalidEntry(`"${keys.join(".")}" must be ${what}`, [...path, ...keys]);
  const scalar = (member: unknown, keys: readonly string[], usedSyntax = syntax): ConfigValue => {
    if (typeof member === "string") return parseValue(member, usedSyntax);
    if (["number", "bigint", "boolean"].includes(typeof member)) return String(member);
    throw fail("a string", ...keys);
  };
  const list = (key: string): readonly unknown[] => {
    const member = get(key) ?? [];
    if (!Array.isArray(member)) throw fail("an array of strings", key);
    return member;
  };
  const word = (member: unknown, ...keys: readonly string[]): string => {
    if (typeof member !== "string") throw fail("a string", ...keys);
    return member;
  };
  return {
    has: (key) => get(key) !== undefined,
    value(key) {
      const member = get(key);
      return member === undefined ? undefined : parseValue(word(member, key), syntax);
    },
    values: (key) => list(key).map((member, index) => scalar(member, [key, String(index)])),
    table(key, usedSyntax) {
      const member = get(key) ?? {};
      if (!isTable(member)) throw fail("an object of strings", key);
      // VS Code allows null for "not set".
      const setEntries = Object.entries(member).filter(([, item]) => item !== null);
      return new Map(setEntries.map(([name, item]) => [name, scalar(item, [key, name], usedSyntax)]));
    },
    word: (key) => (get(key) === undefined ? undefined : word(get(key), key)),
    names: (key) =>
      list(key).map((member, index) => word(isTable(member) ? memberOf(member, "name") : member, key, String(index))),
    flag(key) {
      const member = get(key);
      if (member === undefined || typeof member === "boolean") return member;
      throw fail("true or false", key);
    },
    inner: (key) => (isTable(get(key)) ? readEntry(get(key), syntax, [...path, key]) : undefined),
  };
}

/** Returns the member that disables an entry. Throws `InvalidEntry` if the entry has both members. */
export function disablingMember(entry: EntryReader): "disabled" | "enabled" | undefined {
  if (entry.has("disabled") && entry.has("enabled")) {
    throw new InvalidEntry('The entry has both "disabled" and "enabled"; keep one', ["enabled"]);
  }
  if (entry.flag("disabled") === true) return "disabled";
  return entry.flag("enabled") === false ? "enabled" : undefined;
}
