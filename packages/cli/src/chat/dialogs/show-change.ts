import type { DefinitionChange, DefinitionDifference } from "@mcparley/host";
import { printableJson } from "mcparley";
import { exactLines, excerpt, ownLines, quoted, serverLines } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";
import { type Shown, stack } from "../../terminal/questions/dialog.ts";
import { shortJson, wholeJson } from "./json-text.ts";

/** Returns the line that names a definition and its status. */
export function titleOf({ kind, name, status }: DefinitionChange, view: View, place = ""): string[] {
  if (kind === "instructions")
    return ownLines(`${place}The instructions for the model ${predicates[status].many}:`, view);
  const what = kind === "template" ? "resource template" : kind;
  return ownLines(`${place}The ${what} ${quoted(name)} ${predicates[status].one}:`, view);
}

const predicates = {
  new: { one: "is new", many: "are new" },
  changed: { one: "has changed", many: "have changed" },
  renamed: { one: "was renamed", many: "were renamed" },
} as const;

/** Returns the differences of a definition, or a new definition. Long values and many lines are cut. */
export function shortChange(change: DefinitionChange, view: View): Shown {
  if (change.status === "new") {
    if (typeof change.current === "string") return excerpt(serverLines(change.current, view), view);
    return shortJson(printableJson(change.current, 2), view);
  }
  const parts = change.differences.map((difference) => differenceLines(difference, view, maxRows));
  const { lines, isCut } = stack(...parts);
  const some = excerpt(lines, view);
  return stack(historyOf(change), { lines: some.lines, isCut: isCut || some.isCut });
}

/** Returns all that is known about a change. */
export function wholeChange(change: DefinitionChange, view: View): string[] {
  const { current, differences, status } = change;
  const definition =
    typeof current === "string" ? serverLines(current, view) : wholeJson(printableJson(current, 2), view);
  if (status === "new") return definition;
  const changes = differences.flatMap((difference) => differenceLines(difference, view, Infinity).lines);
  return [...historyOf(change), ...changes, "  The definition now:", ...definition];
}

/** Maximum lines of a terminal for a value of a difference. */
const maxRows = 4;

function historyOf({ previous }: DefinitionChange): string[] {
  return previous === undefined ? ["  The accepted definition is not stored. All parts are shown as added."] : [];
}

function differenceLines({ path, before, after }: DefinitionDifference, view: View, most: number): Shown {
  const where = ownLines(path === "" ? "the whole definition" : visibleLine(path), view, ["  ", "    "]);
  const from = most === Infinity ? 0 : startOfDifference(before, after);
  const value = (text: string | undefined, label: string): Shown => {
    if (text === undefined) return { lines: [], isCut: false };
    const rows = exactLines(from > 0 ? `…${text.slice(from)}` : text, view, `  ${label.padEnd(7)} │ `);
    if (rows.length <= most) return { lines: rows, isCut: false };
    const note = view.style.yellow(`  … ${rows.length - most + 1} lines of this value are not shown`);
    return { lines: [...rows.slice(0, most - 1), note], isCut: true };
  };
  return stack(
    where,
    value(before, after === undefined ? "removed" : "before"),
    value(after, before === undefined ? "added" : "after"),
  );
}

/** Characters of a long value that are shown before its first difference. */
const lead = 30;

/** Returns the position from which two long values are shown, so that a cut does not hide their difference. */
function startOfDifference(before = "", after = ""): number {
  let equal = 0;
  while (equal < before.length && before[equal] === after[equal]) equal++;
  return equal > 4 * lead ? equal - lead : 0;
}
