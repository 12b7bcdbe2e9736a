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
  readonly found: DefinitionDifference[];
  /** The number of differences, also those beyond the maximum. */
  count: number;
  /** UTF-16 units of values that may still be shown. */
  left: number;
}

/**
 * Returns the differences between two definitions by their JSON pointers. A member that only one of them has is one difference.
 * Without `before`, each member of `after` is one.
 *
 * Long values are cut, with a note of their length and hash. Of more than 1,000 differences, the rest is one difference of the whole
 * definition, with the number.
 */
export function differencesBetween(before: unknown, after: unknown): DefinitionDifference[] {
  const differences: Differences = { found: [], count: 0, left: maxTotal };
  const start = before === undefined && isContainer(after) && !Array.isArray(after) ? {} : before;
  collect(start, after, { path: "", differences });
  const { found, count } = differences;
  if (count > maxDifferences) {
    found.push({ path: "", before: undefined, after: `${count - maxDifferences} more differences are not shown.` });
  }
  return found;
}

function collect(
  before: unknown,
  after: unknown,
  { path, differences }: { path: string; differences: Differences },
): void {
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    if (before !== after) add(before, after, { path, differences });
    return;
  }
  const membersBefore = new Map(Object.entries(before));
  const membersAfter = new Map(Object.entries(after));
  for (const name of new Set([...membersBefore.keys(), ...membersAfter.keys()])) {
    const inner = { path: `${path}/${pointerToken(name)}`, differences };
    collect(membersBefore.get(name), membersAfter.get(name), inner);
  }
}

/** Adds a difference, unless both values have the same JSON. */
function add(before: unknown, after: unknown, { path, differences }: { path: string; differences: Differences }): void {
  const { found, left } = differences;
  if (differences.count >= maxDifferences) {
    differences.count++;
    return;
  }
  const limit = Math.max(Math.min(maxShown, left), shortLength);
  const difference = {
    path: visibleText(path),
    before: visibleValue(before, path, limit),
    after: visibleValue(after, path, limit),
  };
  if (difference.before === difference.after) return;
  differences.count++;
  differences.left -= (difference.before?.length ?? 0) + (difference.after?.length ?? 0);
  found.push(difference);
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
