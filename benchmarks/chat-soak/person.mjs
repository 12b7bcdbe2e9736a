// @ts-check

/** @import { PseudoTerminal } from "../../tests/chat/support/pseudo-terminal.mjs" */

/** The line of the chat that reads the next message. The fields of a form are indented. */
const prompt = /^> ?$/;

/** The answers to the questions of the chat, by the line of the cursor. @type {readonly (readonly [question: RegExp, answer: string])[]} */
const answers = [
  [/\[y\]es, \[m\]anually.*\? ?$/, "m"],
  [/\[s\]end, \[e\]dit.*\? ?$/, "s"],
  [/\[y\]es.*\? ?$/, "y"],
  [/^ +\[Enter: .*\] > ?$/, ""],
];

/** An answer that was given twice, and is a message now. A question waits until it is deleted. */
const stray = /^> [ysm]$/;

/** Milliseconds after which a question that looks the same is a new one. */
const sameQuestion = 3_000;

/** A person who types into a chat, and answers its questions. */
export class Person {
  #terminal;
  /** @type {string[]} */
  #fields = [];

  /** @param {PseudoTerminal} terminal */
  constructor(terminal) {
    this.#terminal = terminal;
  }

  /** Waits for the prompt, and answers the questions before it. */
  async ready() {
    await this.#answerUntil(() => this.#isReady());
  }

  /**
   * Sends a message, and answers questions until its answer is on the screen and the prompt is back.
   *
   * @param {string} message @param {{ expected: string, fields?: readonly string[] }} options `fields` are the values for the
   *   required fields of a form without a default, in their order.
   */
  async say(message, { expected, fields = [] }) {
    this.#fields = [...fields];
    await this.#enter(message);
    await this.#answerUntil(() => this.#isReady() && this.#shows(expected));
  }

  /** Sends a message, and cancels its call when a text is on the screen. @param {string} message @param {{ seen: string, expected: string }} texts */
  async sayAndCancel(message, { seen, expected }) {
    await this.#enter(message);
    await this.#answerUntil(() => this.#shows(seen));
    this.#terminal.key("ctrl-c");
    await this.#answerUntil(() => this.#isReady() && this.#shows(expected));
  }

  /** Sends a line. The key is sent by itself, so that it does not belong to a paste. @param {string} line */
  async #enter(line) {
    if (line !== "") await this.#terminal.type(line);
    this.#terminal.key("enter");
  }

  /** Whether a text is on the screen, also if it is wrapped. @param {string} text */
  #shows(text) {
    return this.#terminal
      .screen()
      .replaceAll(/\s*\n\s*/g, " ")
      .includes(text);
  }

  #isReady() {
    return prompt.test(this.#terminal.cursor().line);
  }

  /** @param {() => boolean} isDone */
  async #answerUntil(isDone) {
    const terminal = this.#terminal;
    for (;;) {
      const isStray = () => stray.test(terminal.cursor().line);
      await terminal.waitFor(() => isDone() || isStray() || this.#answer() !== undefined, { timeout: 120_000 });
      const answer = this.#answer();
      if (isDone()) return;
      if (isStray()) {
        terminal.key("backspace");
        await terminal.waitFor(() => !isStray());
        continue;
      }
      // The question was answered before the screen changed.
      if (!answer) continue;
      const { line, row } = terminal.cursor();
      if (answer.isField) this.#fields.shift();
      await this.#enter(answer.text);
      // Another row alone says nothing: a status can appear above the question.
      const isTaken = () =>
        ![line.trimEnd(), `${line.trimEnd()} ${answer.text}`].includes(terminal.cursor().line.trimEnd());
      const isNext = () => isTaken() || terminal.cursor().row !== row;
      // The next question can look the same, and an empty answer changes nothing else.
      const [isDifferent, timeout] = answer.text === "" ? [isNext, sameQuestion] : [isTaken, 10 * sameQuestion];
      await terminal.waitFor(isDifferent, { timeout }).catch(() => {});
    }
  }

  /** Returns the answer to the question at the cursor, or undefined if there is none. */
  #answer() {
    const { line } = this.#terminal.cursor();
    const known = answers.find(([question]) => question.test(line));
    if (known) return { text: known[1], isField: false };
    // A field that was skipped by a second Enter takes the first choice.
    const [value = "1"] = this.#fields;
    return /^ +> ?$/.test(line) ? { text: value, isField: true } : undefined;
  }
}
