import truncatedWidth from "fast-string-truncated-width";
import { printable } from "mcparley";
import { widthOf } from "../../client/terminal-text.ts";

/** Text on the rows of a terminal, with a cursor. */
export interface Rows {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** An input as it is drawn. */
export interface InputText {
  /** The text before the input, with colours and without other controls. The lines after its last line break stand beside the input. */
  readonly prompt: string;
  readonly text: string;
  /** The number of characters before the cursor. */
  readonly cursor: number;
}

/** Returns the rows of an input of at most `columns` columns and `most` rows. If it has more, those around the cursor are shown. */
export function inputRows({ prompt, text, cursor }: InputText, columns: number, most: number): Rows {
  const room = Math.max(columns, 4);
  const indent = Math.min(widthOf(prompt), room >> 1);
  const isBeside = widthOf(prompt) <= room >> 1;
  const before = layOut(safe(text.slice(0, cursor)), room - (isBeside ? indent : 0));
  const all = layOut(safe(text), room - (isBeside ? indent : 0));
  const at = { row: before.length - 1, column: widthOf(before.at(-1) ?? "") };
  // A cursor behind the last column stands at the start of the next row.
  if (at.column >= room - (isBeside ? indent : 0)) {
    at.row += 1;
    at.column = 0;
    if (all.length === at.row) all.push("");
  }
  const first = Math.max(0, Math.min(at.row - (most >> 1), all.length - most));
  const shown = all.slice(first, first + most).map((row, index) => {
    if (!isBeside) return row;
    return (first + index === 0 ? prompt : " ".repeat(indent)) + row;
  });
  const cursorAt = { row: at.row - first, column: at.column + (isBeside ? indent : 0) };
  if (isBeside) return { rows: shown, cursor: cursorAt };
  const above = layOut(prompt, room);
  return { rows: [...above, ...shown], cursor: { ...cursorAt, row: cursorAt.row + above.length } };
}

/** Breaks a text into rows of at most `columns` columns, in linear time. */
function layOut(text: string, columns: number): string[] {
  return text.split("\n").flatMap((line) => {
    const rows: string[] = [];
    let rest = line;
    for (;;) {
      const { index, truncated } = truncatedWidth(rest, { limit: columns, ellipsis: "" });
      if (!truncated || index === 0) break;
      rows.push(rest.slice(0, index));
      rest = rest.slice(index);
    }
    rows.push(rest);
    return rows;
  });
}

/** Returns a text in which tabs are spaces, and controls are escaped. The text can be a value of a server that was chosen. */
function safe(text: string): string {
  return printable(text.replaceAll("\t", "    "));
}
