import { printable } from "mcparley";
import { breakLine, brokenLines, widthOf } from "../text.ts";

/** Text on the rows of a terminal, with a cursor. */
export interface Rows {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** An input as it is drawn. */
export interface InputText {
  /** The text before the input on its first row, with colours and without other controls. */
  readonly prompt: string;
  readonly text: string;
  /** The number of characters before the cursor. */
  readonly cursor: number;
}

/** Columns that a prompt must leave for the text beside it. A longer prompt has rows of its own. */
const leastRoom = 12;

/** Returns the rows of an input of at most `columns` columns and `most` rows. If it has more, those around the cursor are shown. */
export function inputRows({ prompt, text, cursor }: InputText, columns: number, most: number): Rows {
  const room = Math.max(columns, 4);
  const promptWidth = widthOf(prompt);
  const isBeside = promptWidth <= Math.max(room - leastRoom, room >> 1);
  const start = isBeside ? promptWidth : 0;
  const indent = isBeside && promptWidth <= room >> 1 ? promptWidth : 0;
  const [firstWidth, width] = [room - start, room - indent];
  const all = layOut(safe(text), firstWidth, width);
  const rowsBefore = layOut(safe(text.slice(0, cursor)), firstWidth, width);
  const position = { row: rowsBefore.length - 1, column: widthOf(rowsBefore.at(-1) ?? "") };
  // A cursor behind the last column stands at the start of the next row.
  if (position.column >= (position.row === 0 ? firstWidth : width)) {
    position.row += 1;
    position.column = 0;
    if (all.length === position.row) all.push("");
  }
  const firstRow = Math.max(0, Math.min(position.row - (most >> 1), all.length - most));
  const visibleRows = all.slice(firstRow, firstRow + most).map((row, index) => {
    const isFirst = firstRow + index === 0;
    return isFirst && isBeside ? prompt + row : " ".repeat(isFirst ? 0 : indent) + row;
  });
  const column = position.column + (position.row === 0 ? start : indent);
  const promptRows = isBeside ? [] : brokenLines(prompt.trimEnd(), room);
  return {
    rows: [...promptRows, ...visibleRows],
    cursor: { row: position.row - firstRow + promptRows.length, column },
  };
}

/** Breaks a text into rows of at most `width` columns, and `first` columns for the first one. */
function layOut(text: string, first: number, width: number): string[] {
  return text.split("\n").flatMap((line, index) => breakLine(line, width, index === 0 ? first : width));
}

/** Returns a text in which tabs are spaces, and controls are escaped. The text can be a value of a server that was chosen. */
function safe(text: string): string {
  return printable(text.replaceAll("\t", "    "));
}
