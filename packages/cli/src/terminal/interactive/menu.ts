import type { Menu, MenuEntry, Suggest } from "../questions/prompter.ts";
import { type Style, cut, visibleLine, widthOf } from "../text.ts";

/** Maximum rows of a menu. */
const mostRows = 8;
/** The share of the width for the texts of the entries. Their descriptions follow. */
const labelShare = 0.6;

/** The reason for which a request of entries ends. */
const textChange = new Error("The text has changed.");

/** The menu above an input. It follows the text, and has at most one selected entry. */
export class InputMenu {
  readonly #suggest: Suggest | undefined;
  readonly #onChange: () => void;
  #menu: Menu | undefined;
  #selected: number | undefined;
  #pending = new AbortController();
  /** Whether the entries are those of an earlier text, until those of the text arrive. */
  #isOutdated = false;
  #isUsed = false;

  /** `onChange` is called when entries arrive later than the text. */
  constructor(suggest: Suggest | undefined, onChange: () => void) {
    this.#suggest = suggest;
    this.#onChange = onChange;
  }

  /** Requests the entries for a text. Entries for an earlier text are dropped. */
  update(text: string): void {
    this.#isUsed = false;
    this.#pending.abort(textChange);
    const { signal } = (this.#pending = new AbortController());
    const result = this.#suggest?.(text, signal);
    if (!(result instanceof Promise)) {
      this.#set(result);
      return;
    }
    this.#isOutdated = true;
    void result.then(
      (menu) => {
        if (signal.aborted) return;
        this.#set(menu);
        this.#onChange();
      },
      // A server that cannot complete has no entries. The text can be typed.
      () => {
        if (!signal.aborted) this.close();
      },
    );
  }

  /** Removes the entries until the text changes. */
  close(): void {
    this.#isUsed = true;
    this.#pending.abort(textChange);
    this.#set(undefined);
  }

  /** Whether the user has closed the menu, or moved in it, since the text changed. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  get isOpen(): boolean {
    return this.#menu !== undefined;
  }

  /** Selects the next or the previous entry. */
  move(step: 1 | -1): void {
    const count = this.#menu?.entries.length ?? 0;
    if (count === 0) return;
    this.#isUsed = true;
    const start = this.#selected ?? (step === 1 ? -1 : 0);
    this.#selected = (start + step + count) % count;
  }

  /**
   * Returns the selected entry, or the first one for the Tab key, with the number of characters that it replaces. Entries for an
   * earlier text cannot be chosen.
   */
  chosenEntry({ orFirst }: { orFirst: boolean }): (MenuEntry & { replaces: number }) | undefined {
    if (this.#isOutdated) return undefined;
    const index = this.#selected ?? (orFirst ? 0 : undefined);
    const entry = index === undefined ? undefined : this.#menu?.entries[index];
    return entry && this.#menu && { ...entry, replaces: this.#menu.replaces };
  }

  /** Returns the rows of the menu: those around the selected entry. */
  rows(columns: number, style: Style): string[] {
    const entries = this.#menu?.entries ?? [];
    const selectedIndex = this.#selected ?? -1;
    const first = Math.max(0, Math.min(selectedIndex - mostRows + 2, entries.length - mostRows));
    const visibleEntries = entries.slice(first, first + mostRows);
    const labels = visibleEntries.map(({ value, label }) =>
      cut(visibleLine(label ?? value), Math.max(20, Math.floor(columns * labelShare))),
    );
    const width = Math.max(0, ...labels.map(widthOf));
    const rows = visibleEntries.map(({ detail }, index) => {
      const label = labels[index] ?? "";
      const description = detail === undefined ? "" : `  ${visibleLine(detail)}`;
      const text = cut(`${label}${" ".repeat(width - widthOf(label))}${description}`, Math.max(4, columns - 3));
      return first + index === selectedIndex
        ? `* ${style.inverse(text)}`
        : `  ${text.slice(0, label.length)}${style.dim(text.slice(label.length))}`;
    });
    const hiddenCount = entries.length - visibleEntries.length;
    return hiddenCount > 0 ? [...rows, style.dim(`  ${visibleEntries.length} of ${entries.length}`)] : rows;
  }

  #set(menu: Menu | undefined): void {
    this.#isOutdated = false;
    // Control characters cannot be typed, and would act as keys.
    const entries = menu?.entries.filter(({ value }) => !/\p{Cc}/u.test(value)) ?? [];
    this.#menu = menu && entries.length > 0 ? { ...menu, entries } : undefined;
    this.#selected = this.#menu?.isPreselected ? 0 : undefined;
  }
}
