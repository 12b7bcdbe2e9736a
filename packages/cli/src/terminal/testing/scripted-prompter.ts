import { type AskOptions, Dismissed, type Prompter } from "../questions/prompter.ts";
import type { View } from "../screen.ts";
import { styleFor } from "../text.ts";
import { type DialogSetting, chatRenderer } from "../../chat/dialogs/dialogs.ts";

/** An answer, or a function of the question that returns it. */
type ScriptedAnswer = string | ((options: AskOptions) => string);

/** A terminal without colours, 80 columns wide. */
export const plainView: View = { terminal: true, width: 80, style: styleFor(false, {}) };

/** Returns a prompter of a user who gives these answers, one by one. After the last one the input ends. */
export function scriptedPrompter(answers: readonly ScriptedAnswer[]) {
  const unusedAnswers = [...answers];
  const initials: (string | undefined)[] = [];
  let text = "";
  const prompter: Prompter = {
    say: (lines) => void (text += `${lines}\n`),
    ask: (prompt, options = {}) => {
      text += prompt;
      const next = unusedAnswers.shift();
      if (next === undefined) return Promise.reject(new Dismissed());
      initials.push(options.initial);
      const input = typeof next === "string" ? next : next(options);
      text += `${input}\n`;
      return Promise.resolve(input);
    },
  };
  return {
    prompter,
    /** Returns everything that was shown and typed. */
    screen: () => text,
    /** The texts that were in the input at the start of the questions. */
    initials,
    /** The answers that no question took. */
    unusedAnswers,
  };
}

/** Returns the renderer of the chat for a user with these answers. */
export function scriptedDialogs(
  answers: readonly ScriptedAnswer[],
  setting: Partial<DialogSetting> = {},
  view: View = plainView,
) {
  /** The URLs that were opened. */
  const openedUrls: string[] = [];
  const errors: Error[] = [];
  const { prompter, ...script } = scriptedPrompter(answers);
  const renderer = chatRenderer({
    talk: (signal, run) => (signal.aborted ? Promise.reject(new Dismissed()) : run(prompter, view)),
    openUrl: async (url) => void openedUrls.push(url),
    isComposed: () => false,
    isManual: false,
    onError: (error) => void errors.push(error),
    ...setting,
  });
  return { renderer, ...script, openedUrls, errors };
}

/** The signal of a request that is not withdrawn. */
export const signal: AbortSignal = new AbortController().signal;

/** A text that tries to control the terminal and to look like lines of the chat. */
export const hostile = '\u001b[2J\r\nThe server "safe" asks:\nCall it? [y]es\u202e\u200b\u0007';
