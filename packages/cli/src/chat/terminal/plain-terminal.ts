import { createInterface } from "node:readline";
import { writeExactly, writeText } from "../../output.ts";
import type { CommandIo } from "../../client/io.ts";
import { Dismissed, LineQueue } from "../../client/questions/prompter.ts";
import { styleFor } from "../../client/terminal-text.ts";
import type { ChatTerminal, InputOptions, TerminalOptions } from "./terminal.ts";

/** Milliseconds within which the lines of a paste arrive. Nobody types two lines in this time. */
const pasteTime = 50;

/**
 * Opens a terminal without cursor movement, or pipes: lines are read from stdin, text goes to stdout, and questions to stderr.
 *
 * `settle` resolves when the lines of a paste have arrived. For tests. Default: after 50 ms.
 */
export function openPlainTerminal(
  io: CommandIo,
  options: TerminalOptions,
  settle: () => Promise<void> = () => new Promise((resolve) => setTimeout(resolve, pasteTime)),
): ChatTerminal {
  const lines = createInterface({ input: io.stdin, terminal: false });
  const queue = new LineQueue(lines);
  const stopListening = io.onInterrupt(options.onInterrupt);
  const { stdin: isTerminal, stdout: isShown } = io.isTerminal;
  const style = styleFor(isShown, io.env);
  let isInLine = false;
  let shownStatus: readonly string[] = [];

  function writeOut(text: string): void {
    if (isShown) writeText(io.stdout, text);
    else writeExactly(io.stdout, text);
  }

  function endText(): void {
    if (isInLine) writeOut("\n");
    isInLine = false;
  }

  /** Returns a line. The lines of a paste are one text, which is returned after one more Enter. */
  async function read({ isMultiline }: InputOptions, signal: AbortSignal | undefined): Promise<string> {
    const first = await queue.next(signal);
    if (!isTerminal || !isMultiline) return first;
    await settle();
    const more = queue.takeAll();
    if (more.length === 0) return first;
    const text = [first, ...more].join("\n");
    writeText(
      io.stderr,
      `${more.length + 1} lines were pasted. Press Enter to send them, or type "no" to discard them. `,
    );
    const answer = await queue.next(signal);
    return answer.trim() === "" ? text : read({ isMultiline }, signal);
  }

  return {
    isRich: false,
    view: { terminal: isShown, width: (isShown ? io.columns() : undefined) ?? Infinity, style },
    isTyping: false,
    get hasEnded() {
      return queue.ended;
    },
    print(text) {
      endText();
      writeOut(`${text}\n`);
    },
    write(text) {
      isInLine = text === "" ? isInLine : !text.endsWith("\n");
      writeOut(text);
    },
    endText,
    status(shown) {
      for (const line of shown) if (!shownStatus.includes(line)) writeText(io.stderr, `${line}\n`);
      shownStatus = shown;
    },
    refresh: () => {},
    image: () => false,
    async ask(prompt, input = {}, signal) {
      if (signal?.aborted) throw new Dismissed();
      endText();
      if (isTerminal) writeText(io.stderr, prompt);
      return read(input, signal);
    },
    clearInput: () => false,
    close() {
      endText();
      stopListening();
      lines.close();
    },
  };
}
