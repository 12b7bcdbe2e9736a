import type { DefinitionDifference } from "../../renderer/review.ts";
import { pointerToken } from "./remarks.ts";
import { visibleJson, visibleText } from "./visible-text.ts";

/**
 * Returns the differences between two definitions by their JSON pointers. A member that only one of them has is one difference.
 * Without `before`, each member of `after` is one.
 */
export function differencesBetween(before: unknown, after: unknown): DefinitionDifference[] {
  const found: DefinitionDifference[] = [];
  collect(before === undefined && isContainer(after) && !Array.isArray(after) ? {} : before, after, {
    path: "",
    found,
  });
  return found;
}

function collect(
  before: unknown,
  after: unknown,
  { path, found }: { path: string; found: DefinitionDifference[] },
): void {
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    const difference = { path: visibleText(path), before: shown(before, path), after: shown(after, path) };
    if (difference.before !== difference.after) found.push(difference);
    return;
  }
  const membersBefore = new Map(Object.entries(before));
  const membersAfter = new Map(Object.entries(after));
  for (const name of new Set([...membersBefore.keys(), ...membersAfter.keys()])) {
    const inner = { path: `${path}/${pointerToken(name)}`, found };
    collect(membersBefore.get(name), membersAfter.get(name), inner);
  }
}

/** In the name of a definition, each character outside of ASCII is escaped. */
function shown(value: unknown, path: string): string | undefined {
  if (value === undefined) return undefined;
  return path === "/name" ? visibleText(visibleJson(value), true) : visibleJson(value);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
