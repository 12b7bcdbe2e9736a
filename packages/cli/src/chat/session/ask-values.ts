import { type Prompter, type Suggest } from "../../terminal/questions/prompter.ts";
import { type View, paragraph } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";

/** A value to ask for: an argument of a prompt or of a tool, or a variable of a template. */
export interface AskedValue {
  readonly name: string;
  readonly description: string | undefined;
  /** Such as `required`, or the type. */
  readonly facts: string;
  readonly isRequired: boolean;
}

interface Asking {
  readonly prompter: Prompter;
  readonly view: View;
  /** Returns the menu for a value, which can depend on the values before. */
  readonly suggestFor: (name: string, known: Readonly<Record<string, string>>) => Suggest | undefined;
}

/**
 * Asks for values, one after another. An empty answer omits an optional value.
 *
 * Rejects with `Dismissed` if the user closes the question.
 */
export async function askValues(values: readonly AskedValue[], asking: Asking): Promise<Record<string, string>> {
  const { prompter, view, suggestFor } = asking;
  const answers = new Map<string, string>();
  for (const value of values) {
    const { name, description, facts, isRequired } = value;
    if (description !== undefined) prompter.say(view.style.dim(paragraph(description, view, "  ")));
    const known = Object.fromEntries(answers);
    const suggest = suggestFor(name, known);
    const question = `  ${visibleLine(name)} ${view.style.dim(`(${visibleLine(facts)})`)}: `;
    for (;;) {
      const text = await prompter.ask(question, suggest && { suggest });
      if (text !== "") answers.set(name, text);
      if (text !== "" || !isRequired) break;
      prompter.say(view.style.yellow("  This value is required. Ctrl-D cancels."));
    }
  }
  return Object.fromEntries(answers);
}
