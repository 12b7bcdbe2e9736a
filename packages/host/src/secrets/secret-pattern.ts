/** Maximum characters of the end of a text that are held back. */
const MAX_HELD = 256;

/** The start and the end of a part of a text. */
type Range = readonly [start: number, end: number];

/** Finds the forms of secrets in texts. It reads a text once, whatever their number is. */
export interface SecretPattern {
  /** Returns the text without the forms. Of forms that overlap nothing remains. */
  removeFrom(this: void, text: string): string;
  /** Returns the length of the text before an end that may be continued as a form, or the length of the text. */
  lengthBeforeStart(this: void, text: string): number;
}

/** Returns the pattern of all forms. */
export function secretPattern(forms: readonly string[]): SecretPattern {
  // A longer form is first, because it can start with another one.
  const byLength = forms.toSorted((a, b) => b.length - a.length);
  const source = byLength.map((form) => form.replace(/[$()*+./?[\\\]^{|}-]/g, "\\$&")).join("|");
  const first = new RegExp(source);
  // An empty match at each place, so that forms that overlap are found.
  const all = new RegExp(`(?=(${source}))`, "g");
  let sorted: readonly string[] | undefined;

  function rangesIn(text: string): readonly Range[] {
    if (!first.test(text)) return [];
    const ranges: Range[] = [];
    for (const { index, 1: form = "" } of text.matchAll(all)) {
      const last = ranges.at(-1);
      const end = index + form.length;
      if (last && index < last[1]) ranges[ranges.length - 1] = [last[0], Math.max(last[1], end)];
      else ranges.push([index, end]);
    }
    return ranges;
  }

  /** Whether a text is the start of a longer form. */
  function isStart(text: string): boolean {
    sorted ??= forms.toSorted();
    let low = 0;
    for (let high = sorted.length; low < high;) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! <= text) low = middle + 1;
      else high = middle;
    }
    return sorted[low]?.startsWith(text) ?? false;
  }

  return {
    removeFrom(text) {
      let shown = "";
      let after = 0;
      for (const [start, end] of rangesIn(text)) {
        shown += `${text.slice(after, start)}[redacted]`;
        after = end;
      }
      return after === 0 ? text : shown + text.slice(after);
    },
    lengthBeforeStart(text) {
      let start = Math.max(0, text.length - MAX_HELD);
      while (start < text.length && !isStart(text.slice(start))) start += 1;
      // A form is not divided.
      return rangesIn(text).find(([from, end]) => from < start && start < end)?.[0] ?? start;
    },
  };
}
