import type { Screen } from "../../terminal/screen.ts";
import { showText } from "../../terminal/show-content.ts";

/** Writes the text of the model to stdout while it arrives. */
interface AnswerOutput {
  /** Writes the next part of a text. */
  write(this: void, text: string): Promise<void>;
  /** Ends the text of a step, and its last line. The text of the next step begins after an empty line. */
  endText(this: void): Promise<void>;
}

/**
 * Characters at the end of a part that can belong to a character of the next part: the first half of a pair, a joiner, a variation
 * selector, a carriage return, and the character before them.
 */
const openEnd = /[^]?(?:[\r\ud800-\udfff]|\u200c|\u200d|\ufe0e|\ufe0f){0,32}$/;

/** Returns an output of text: escaped on a terminal, unchanged in a pipe. */
export function answerOutput(screen: Pick<Screen, "out" | "print">): AnswerOutput {
  let isFirst = true;
  let isMidLine = false;
  let isMidText = false;
  let pendingText = "";

  async function print(text: string): Promise<void> {
    if (text === "") return;
    const separator = isMidText || isFirst ? "" : "\n";
    [isFirst, isMidText, isMidLine] = [false, true, !text.endsWith("\n")];
    await screen.print(separator + showText(text, screen.out));
  }

  return {
    async write(part) {
      const text = pendingText + part;
      // The last part of the pattern is short, so only the end of the text is searched.
      const start = Math.max(0, text.length - 40);
      const end = start + openEnd.exec(text.slice(start))!.index;
      const isPair = /^(?:[\ud800-\udbff][\udc00-\udfff]|\r\n)$/.test(text.slice(Math.max(0, end - 1), end + 1));
      const splitIndex = isPair ? end - 1 : end;
      pendingText = text.slice(splitIndex);
      await print(text.slice(0, splitIndex));
    },
    async endText() {
      await print(pendingText);
      pendingText = "";
      if (isMidLine) await screen.print("\n");
      [isMidLine, isMidText] = [false, false];
    },
  };
}
