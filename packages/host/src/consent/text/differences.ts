import type { DefinitionDifference } from "../../renderer/renderer.ts";
import { pointerToken } from "./remarks.ts";
import { maxShown, shortText, visibleJson, visibleText } from "./visible-text.ts";

/** Maximum differences of one definition. The last one states how many are left out. */
const maxDifferences = 1_000;
/** Maximum UTF-16 units of all values. The values after them are short. */
const maxTotal = 262_144;
const shortLength = 200;

/** The differences so far. */
interface Differences {
  readonly list: DefinitionDifference[];
  /** The number of differences, also those beyond the maximum. */
  count: number;
  /** UTF-16 units of values that may still be shown. */
  unitsLeft: number;
}

/**
 * Returns the differences between two definitions by their JSON pointers. A member that only one of them has is one difference.
 * Without `before`, each member of `after` is one.
 *
 * Long values are cut, with a note of their length and hash. Of more than 1,000 differences, the rest is one difference of the whole
 * definition, with the number.
 */
export function differencesBetween(oldValue: unknown, newValue: unknown): DefinitionDifference[] {
  const differences: Differences = { list: [], count: 0, unitsLeft: maxTotal };
  const start = oldValue === undefined && isContainer(newValue) && !Array.isArray(newValue) ? {} : oldValue;
  collect(start, newValue, { path: "", differences });
  const { list, count } = differences;
  if (count > maxDifferences) {
    list.push({ path: "", before: undefined, after: `${count - maxDifferences} more differences are not shown.` });
  }
  return list;
}

function collect(
  oldValue: unknown,
  newValue: unknown,
  { path, differences }: { path: string; differences: Differences },
): void {
  if (!isContainer(oldValue) || !isContainer(newValue) || Array.isArray(oldValue) !== Array.isArray(newValue)) {
    if (oldValue !== newValue) add(oldValue, newValue, { path, differences });
    return;
  }
  const membersBefore = new Map(Object.entries(oldValue));
  const membersAfter = new Map(Object.entries(newValue));
  for (const name of new Set([...membersBefore.keys(), ...membersAfter.keys()])) {
    const inner = { path: `${path}/${pointerToken(name)}`, differences };
    collect(membersBefore.get(name), membersAfter.get(name), inner);
  }
}

/** Adds a difference, unless both values have the same JSON. */
function add(
  oldValue: unknown,
  newValue: unknown,
  { path, differences }: { path: string; differences: Differences },
): void {
  const { list, unitsLeft } = differences;
  if (differences.count >= maxDifferences) {
    differences.count++;
    return;
  }
  const limit = Math.max(Math.min(maxShown, unitsLeft), shortLength);
  const difference = {
    path: visibleText(path),
    before: visibleValue(oldValue, path, limit),
    after: visibleValue(newValue, path, limit),
  };
  if (difference.before === difference.after) return;
  differences.count++;
  differences.unitsLeft -= (difference.before?.length ?? 0) + (difference.after?.length ?? 0);
  list.push(difference);
}

/** In the name of a definition, each character outside of ASCII is escaped. */
function visibleValue(value: unknown, path: string, limit: number): string | undefined {
  if (value === undefined) return undefined;
  // A long text is cut before its JSON is made, which can have six times the length.
  const json = visibleJson(typeof value === "string" ? shortText(value, limit) : value, undefined, 2 * limit);
  return path === "/name" ? visibleText(json, true, 2 * limit) : json;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
