import { exactLines, excerpt, gutter } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import type { Shown } from "../../terminal/questions/dialog.ts";

/** Maximum lines of a terminal for one line of JSON, such as a long text. */
const maxRows = 4;

/** Returns indented JSON without cuts. */
export function wholeJson(json: string, view: View): string[] {
  return json.split("\n").flatMap((line) => exactLines(line, view, gutter));
}

/** Returns indented JSON. Long values and many lines are cut, with a note of what is left out. */
export function shortJson(json: string, view: View): Shown {
  let hasCutValue = false;
  const lines = json.split("\n").flatMap((line) => {
    const rows = exactLines(line, view, gutter);
    if (rows.length <= maxRows) return rows;
    hasCutValue = true;
    const left = rows.slice(maxRows - 1).reduce((sum, row) => sum + row.length - gutter.length, 0);
    // Without the gutter, so that a value cannot look like this note.
    const note = view.style.yellow(`  … ${left} more characters of this value are not shown`);
    return [...rows.slice(0, maxRows - 1), note];
  });
  const { lines: shown, isCut } = excerpt(lines, view);
  return { lines: shown, isCut: isCut || hasCutValue };
}
