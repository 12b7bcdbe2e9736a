/** Maximum characters of the end of a text that are held back. */
const MAX_HELD = 256;

/** The start and the end of a part of a text. */
type Range = readonly [start: number, end: number];

/** Finds the forms of secrets in texts. It reads a text once, whatever their number is. */
export class SecretPattern {
  readonly #forms: readonly string[];
  readonly #firstForm: RegExp;
  readonly #allForms: RegExp;
  #sortedForms: readonly string[] | undefined;

  constructor(forms: readonly string[]) {
    this.#forms = forms;
    // A longer form is first, because it can start with another one.
    const byLength = forms.toSorted((a, b) => b.length - a.length);
    const source = byLength.map((form) => form.replace(/[$()*+./?[\\\]^{|}-]/g, "\\$&")).join("|");
    this.#firstForm = new RegExp(source);
    // An empty match at each place, so that forms that overlap are found.
    this.#allForms = new RegExp(`(?=(${source}))`, "g");
  }

  /** Returns the text without the forms. Of forms that overlap nothing remains. */
  removeFrom(text: string): string {
    let output = "";
    let offset = 0;
    for (const [start, end] of this.#rangesIn(text)) {
      output += `${text.slice(offset, start)}[redacted]`;
      offset = end;
    }
    return offset === 0 ? text : output + text.slice(offset);
  }

  /** Returns the length of the text before an end that may be continued as a form, or the length of the text. */
  lengthBeforeStart(text: string): number {
    let start = Math.max(0, text.length - MAX_HELD);
    while (start < text.length && !this.#isStart(text.slice(start))) start += 1;
    // A form is not divided.
    return this.#rangesIn(text).find(([first, end]) => first < start && start < end)?.[0] ?? start;
  }

  #rangesIn(text: string): readonly Range[] {
    if (!this.#firstForm.test(text)) return [];
    const ranges: Range[] = [];
    for (const { index, 1: form = "" } of text.matchAll(this.#allForms)) {
      const last = ranges.at(-1);
      const end = index + form.length;
      if (last && index < last[1]) ranges[ranges.length - 1] = [last[0], Math.max(last[1], end)];
      else ranges.push([index, end]);
    }
    return ranges;
  }

  /** Whether a text is the start of a longer form. */
  #isStart(text: string): boolean {
    this.#sortedForms ??= this.#forms.toSorted();
    let low = 0;
    for (let high = this.#sortedForms.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.#sortedForms[middle]! <= text) low = middle + 1;
      else high = middle;
    }
    return this.#sortedForms[low]?.startsWith(text) ?? false;
  }
}
