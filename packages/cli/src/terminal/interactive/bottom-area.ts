import type { Writable } from "node:stream";
import { type FramePart, hideCursor, showCursor, writeFrame } from "../output.ts";
import { widthOf } from "../text.ts";

/** The size of a terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The content of the area: rows without line breaks, and the cursor. Undefined hides the cursor. */
export interface AreaContent {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

/** The start and the end of an update that the terminal shows at once. Terminals without this mode ignore them. */
const beginUpdate = "\u001b[?2026h";
const endUpdate = "\u001b[?2026l";
/** Erases from the start of a row to the end of the screen. At the first cell, tmux would copy the screen to its history. */
const eraseBelow = "\u001b[C\u001b[J\r\u001b[K";

/**
 * The rows at the bottom of a terminal that are drawn again with each change: status, input and menu. Other text is printed above, and
 * scrolls.
 *
 * Its start is found by the number of rows above the cursor. A terminal that was resized has wrapped these rows again, so they are
 * counted for the present width. The row of the cursor counts as one: some terminals do not wrap it, and a row that is erased too
 * much would be a part of the conversation.
 */
export class BottomArea {
  readonly #output: Writable;
  readonly #size: () => Size;
  #drawn: AreaContent = { rows: [], cursor: undefined };

  constructor(output: Writable, size: () => Size) {
    this.#output = output;
    this.#size = size;
  }

  /** Replaces the content. Rows that the terminal has no room for are left out at the start. */
  draw(content: AreaContent): void {
    this.#replace([], content);
  }

  /** Writes text above the area. It must end with a line break. */
  print(parts: readonly FramePart[], content: AreaContent = this.#drawn): void {
    this.#replace(parts, content);
  }

  /** Removes the area, and shows the cursor at its start. */
  erase(): void {
    writeFrame(this.#output, [...this.#toStart(), { control: showCursor }]);
    this.#drawn = { rows: [], cursor: undefined };
  }

  #replace(textAbove: readonly FramePart[], content: AreaContent): void {
    const fitting = fit(content, this.#size());
    const parts = [{ control: beginUpdate + hideCursor }, ...this.#toStart(), ...textAbove, ...drawing(fitting)];
    writeFrame(this.#output, [...parts, { control: endUpdate }]);
    this.#drawn = fitting;
  }

  /** Returns the sequences that move the cursor to the start of the area, and erase what follows. */
  #toStart(): FramePart[] {
    const { rows, cursor } = this.#drawn;
    const { columns } = this.#size();
    const rowsAbove = rows.slice(0, cursor?.row ?? Math.max(0, rows.length - 1));
    const height = rowsAbove.reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / columns)), 0);
    return [{ control: `\r${height > 0 ? `\u001b[${height}A` : ""}${eraseBelow}` }];
  }
}

/** Returns the parts that draw the rows and place the cursor. */
function drawing({ rows, cursor }: AreaContent): FramePart[] {
  const text = { text: rows.join("\n") };
  if (!cursor) return [text];
  const height = rows.length - 1 - cursor.row;
  const vertical = height > 0 ? `\u001b[${height}A` : "";
  const horizontal = cursor.column > 0 ? `\u001b[${cursor.column}C` : "";
  return [text, { control: `\r${vertical}${horizontal}${showCursor}` }];
}

/** Leaves out the first rows of a content that is higher than the terminal, but never the row of the cursor. */
function fit({ rows, cursor }: AreaContent, size: Size): AreaContent {
  const excess = rows.length - Math.max(1, size.rows - 1);
  if (excess <= 0) return { rows, cursor };
  const first = Math.min(excess, cursor?.row ?? excess);
  const visible = rows.slice(first, first + rows.length - excess);
  return { rows: visible, cursor: cursor && { ...cursor, row: cursor.row - first } };
}
