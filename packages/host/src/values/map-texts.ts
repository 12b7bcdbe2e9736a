/** Changes the texts of a value. */
export interface TextChange {
  readonly text: (text: string) => string;
  /** Changes the name of a member. Default: `text`. */
  readonly name?: (name: string) => string;
  /** Changes a text that is a member, or an item of a member. Default: `text`. */
  readonly member?: (text: string, member: TextMember) => string;
  /** Changes an object of a class, which is no JSON. Default: it stays as it is. */
  readonly instance?: (value: object) => unknown;
}

/** A member of an object. */
export interface TextMember {
  readonly name: string;
  readonly parent: Readonly<Record<string, unknown>>;
}

/**
 * Returns a copy of a JSON value in which each text and each name is changed. Returns the same object if nothing changes. Objects and
 * arrays below `maxLevels` become a text. A changed name that another member has gets a number.
 */
export function mapTexts<T>(value: T, change: TextChange): T {
  return mapValue(value, { change, levels: maxLevels, member: undefined });
}

interface Place {
  readonly change: TextChange;
  readonly levels: number;
  readonly member: TextMember | undefined;
}

function mapValue<T>(value: T, place: Place): T {
  if (typeof value === "string") return mapText(value, place) as T;
  if (typeof value !== "object" || value === null) return value;
  const { change, levels, member } = place;
  if (levels === 0) return `[more than ${maxLevels} levels]` as T;
  if (Array.isArray(value)) {
    const itemPlace = { change, levels: levels - 1, member };
    const items = value.map((item: unknown) => mapValue(item, itemPlace));
    return items.some((item, index) => item !== value[index]) ? (items as T) : value;
  }
  if (!isPlain(value)) return change.instance ? (change.instance(value) as T) : value;
  return mapMembers(value as Record<string, unknown>, { change, levels }) as T;
}

function mapText(text: string, { change, member }: Place): string {
  return member && change.member ? change.member(text, member) : change.text(text);
}

function mapMembers(
  members: Readonly<Record<string, unknown>>,
  { change, levels }: Pick<Place, "change" | "levels">,
): Readonly<Record<string, unknown>> {
  const { name: nameOf = change.text } = change;
  const names = Object.keys(members);
  // One object for all members, because large values have thousands of them.
  const member = { name: "", parent: members };
  const place = { change, levels: levels - 1, member };
  // Made with the first change. Most values have none, and can be large.
  let entries: [string, unknown][] | undefined;
  let unique: ReturnType<typeof uniqueNames> | undefined;
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!;
    const changedName = nameOf(name);
    member.name = name;
    const value = mapValue(members[name], place);
    if (!entries && changedName === name && value === members[name]) continue;
    entries ??= names.slice(0, index).map((unchangedName) => [unchangedName, members[unchangedName]]);
    entries.push([changedName === name ? name : (unique ??= uniqueNames(names))(changedName), value]);
  }
  return entries ? Object.fromEntries(entries) : members;
}

/** Whether a value is an object of JSON, and not one of a class. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns a JSON value in which each lone surrogate is U+FFFD. Model providers refuse a request that contains one, and each later one. */
export function wellFormed<T>(value: T): T {
  return mapTexts(value, { text: (text) => text.toWellFormed() });
}

/** Returns a JSON value without its objects and arrays below `maxLevels`, which `JSON.stringify` could not write. */
export function withoutDeepLevels<T>(value: T): T {
  return mapTexts(value, { text: (text) => text });
}

/** Maximum levels of objects and arrays in a value of a server. Deeper ones would exhaust the stack of each function that reads them. */
export const maxLevels = 150;

/**
 * Whether the objects and arrays of a JSON value are nested at most `max` levels deep.
 *
 * `JSON.parse` accepts any depth, but `JSON.stringify` exhausts the stack at some thousand levels.
 */
export function isWithinDepth(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (max === 0) return false;
  for (const name in value) if (!isWithinDepth((value as Record<string, unknown>)[name], max - 1)) return false;
  return true;
}

/**
 * Returns a function that returns a name which it has not returned before: the given one, or `base` with a number.
 *
 * The next number of each base is stored. Servers and models choose the names, and a search from 2 for each of 10,000 equal names
 * would take minutes.
 */
export function uniqueNames(existingNames: Iterable<string> = []): (name: string, base?: string) => string {
  const usedNames = new Set(existingNames);
  const numbers = new Map<string, number>();
  return (name, base = name) => {
    let unique = name;
    for (let number = numbers.get(base) ?? 2; usedNames.has(unique); number += 1) {
      unique = `${base}_${number}`;
      numbers.set(base, number + 1);
    }
    usedNames.add(unique);
    return unique;
  };
}
