import { Dismissed } from "../questions/prompter.ts";
import { type Style, cut } from "../text.ts";
import type { AreaContent, Size } from "./bottom-area.ts";
import { inputRows } from "./input-rows.ts";
import type { KeyEvent } from "../questions/keys.ts";
import type { LineEditor } from "./line-editor.ts";
import { InputMenu } from "./menu.ts";
import type { InputOptions } from "./terminal.ts";

/** Rows of a terminal that remain for the text above the input. */
const rowsAbove = 8;

/** One input, from its question to its answer. */
export class OpenInput {
  readonly answer: Promise<string>;
  readonly prompt: string;
  readonly editor: LineEditor;
  #isAnswered = false;
  readonly #options: InputOptions;
  readonly #menu: InputMenu;
  #resolve: (text: string) => void = () => {};
  #reject: (error: Error) => void = () => {};

  /** `onChange` is called when the input must be drawn again. */
  constructor(editor: LineEditor, { prompt, ...options }: InputOptions & { prompt: string }, onChange: () => void) {
    this.prompt = prompt;
    this.editor = editor;
    this.#options = options;
    this.#menu = new InputMenu(options.suggest, onChange);
    this.answer = new Promise<string>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The rejection is handled by the caller of `ask`, possibly after another input.
    this.answer.catch(() => {});
    // A text that the user has typed before the question is not replaced.
    if (options.initial !== undefined && editor.text === "") editor.set(options.initial);
    this.#suggest();
  }

  /** Whether the text was submitted, although it may still be shown. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Ends the input without an answer. */
  dismiss(): void {
    this.#menu.close();
    this.#reject(new Dismissed());
  }

  /** Empties the text. */
  clear(): void {
    this.editor.set("");
    this.#suggest();
  }

  /** Requests the menu again, unless the user has closed it or moves in it. */
  refresh(): void {
    if (!this.#menu.isUsed) this.#suggest();
  }

  /** Edits the text, or submits it. */
  press(event: KeyEvent): void {
    if (event.type === "paste") this.#insert(event.text.replace(/\n$/, ""));
    else if (event.ctrl && event.name === "d" && this.editor.text === "") this.dismiss();
    else if (!this.#pressMenu(event)) this.#pressText(event);
  }

  /**
   * Returns the rows of the input, below its menu or its hint.
   *
   * No row follows the text. When a terminal is resized it wraps the rows again, and some terminals then move the cursor by the
   * number of the rows that were added below it.
   */
  content(size: Size, style: Style): AreaContent {
    const { text, cursor } = this.editor;
    const most = Math.max(3, size.rows - rowsAbove);
    const input = inputRows({ prompt: this.prompt, text, cursor }, size.columns, most);
    const hint = this.#options.hint?.();
    const header = this.#menu.isOpen
      ? this.#menu.rows(size.columns, style)
      : hint === undefined
        ? []
        : [style.dim(cut(hint, size.columns - 1))];
    return { rows: [...header, ...input.rows], cursor: { ...input.cursor, row: input.cursor.row + header.length } };
  }

  /** Handles the keys of an open menu. Returns false for other keys. */
  #pressMenu({ name, ctrl, meta }: KeyEvent & { type: "key" }): boolean {
    if (name === "tab") return this.#choose({ orFirst: true });
    // Readline reports Escape with `meta`.
    if (!this.#menu.isOpen || ctrl || (meta && name !== "escape")) return false;
    if (name === "up" || name === "down") this.#menu.move(name === "down" ? 1 : -1);
    else if (name === "escape") this.#menu.close();
    else return name === "return" && this.#choose({ orFirst: false });
    return true;
  }

  /** Inserts an entry of the menu. Returns false if none is chosen, or if it is typed already. Tab never inserts a tab. */
  #choose({ orFirst }: { orFirst: boolean }): boolean {
    const entry = this.#menu.chosenEntry({ orFirst });
    if (!entry) return orFirst;
    const textBefore = this.editor.text.slice(0, this.editor.cursor);
    const replacedText = textBefore.slice(textBefore.length - entry.replaces);
    if (!orFirst && replacedText === entry.value) return false;
    this.editor.replaceBefore(entry.replaces, entry.value);
    this.#suggest();
    return true;
  }

  #pressText(event: KeyEvent & { type: "key" }): void {
    const { name, meta, text } = event;
    if (name === "return" || name === "enter") {
      if (this.#isLineBreak(name, meta)) this.#insert("\n");
      else this.#submit();
      return;
    }
    if (name === "escape") return;
    const oldText = this.editor.text;
    if (text !== "") this.editor.insert(text);
    else this.editor.press(event);
    if (this.editor.text !== oldText || !this.#menu.isOpen) this.#suggest();
  }

  /** Ctrl-J, Alt-Enter and a backslash before Enter insert a line break. */
  #isLineBreak(name: string, meta: boolean): boolean {
    if (!this.#options.isMultiline) return false;
    if (name === "enter" || meta) return true;
    const { text, cursor } = this.editor;
    if (text[cursor - 1] !== "\\" || cursor !== text.length) return false;
    this.editor.replaceBefore(1, "");
    return true;
  }

  #insert(text: string): void {
    this.editor.insert(this.#options.isMultiline ? text : text.replaceAll(/\s*\n\s*/g, " "));
    this.#suggest();
  }

  #submit(): void {
    this.#menu.close();
    this.#isAnswered = true;
    this.#resolve(this.editor.take());
  }

  #suggest(): void {
    this.#menu.update(this.editor.text.slice(0, this.editor.cursor));
  }
}
