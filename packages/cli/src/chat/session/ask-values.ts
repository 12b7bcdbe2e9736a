import { type CataloguePrompt, type CompletionRequest, templateVariables } from "@mcparley/host";
import type { TypedArgument } from "../../commands/arguments/arguments.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import type { Suggest } from "../../terminal/questions/prompter.ts";
import { paragraph } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";
import type { Chat } from "./chat.ts";

/** A value to ask for: an argument of a prompt or of a tool, or a variable of a template. */
interface AskedValue {
  readonly name: string;
  readonly description?: string | undefined;
  /** Such as the type. Default: `required` or `optional`. */
  readonly facts?: string;
  readonly isRequired: boolean;
}

interface ValueQuestions {
  /** The line above the questions. */
  readonly title: string;
  /** Returns the menu for a value, which can depend on the values before. */
  readonly suggestFor: (name: string, answers: Readonly<Record<string, string>>) => Suggest | undefined;
  /** Returns the problems of a value, which is then asked for again. Default: each value is accepted. */
  readonly check?: (name: string, text: string) => Promise<readonly string[]>;
}

/**
 * Asks for values, one after another. An empty answer omits an optional value.
 *
 * Rejects with `Dismissed` if the user closes the question.
 */
export async function askValues(
  values: readonly AskedValue[],
  { title, suggestFor, check }: ValueQuestions,
  { dialogs }: Chat,
): Promise<Record<string, string>> {
  if (values.length === 0) return {};
  return dialogs.talk(new AbortController().signal, async (prompter, view) => {
    const { bold, dim, yellow } = view.style;
    prompter.say(bold(visibleLine(title)));
    const answers = new Map<string, string>();
    for (const { name, description, isRequired, facts = isRequired ? "required" : "optional" } of values) {
      if (description !== undefined) prompter.say(dim(paragraph(description, view, "  ")));
      const suggest = suggestFor(name, Object.fromEntries(answers));
      const question = `  ${visibleLine(name)} ${dim(`(${visibleLine(facts)})`)}: `;
      for (;;) {
        const text = await prompter.ask(question, suggest && { suggest });
        if (text === "" && isRequired) {
          prompter.say(yellow("  This value is required. Ctrl-D cancels."));
          continue;
        }
        const problems = text === "" ? [] : ((await check?.(name, text)) ?? []);
        for (const problem of problems) prompter.say(yellow(paragraph(problem, view, "  ")));
        if (problems.length > 0) continue;
        if (text !== "") answers.set(name, text);
        break;
      }
    }
    return Object.fromEntries(answers);
  });
}

/** Asks for the arguments of a prompt that were not given, with the suggestions of the server. */
export async function promptValues(
  { name, server, prompt }: CataloguePrompt,
  typedArguments: readonly TypedArgument[],
  chat: Chat,
): Promise<Record<string, string>> {
  const parameters = prompt.arguments ?? [];
  const names = parameters.map((argument) => argument.name);
  for (const { key } of typedArguments) {
    if (!names.includes(key))
      throw new UsageError(`The prompt ${name} has no argument ${JSON.stringify(key)}.`, didYouMean(key, names));
  }
  const typedValues = Object.fromEntries(
    typedArguments.map(({ key, value }) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  // With arguments on the line, only those that the prompt cannot be expanded without are asked for.
  const missingValues = parameters
    .map(({ required = false, title, description = title, ...argument }) => ({
      ...argument,
      description,
      isRequired: required,
    }))
    .filter((argument) => !Object.hasOwn(typedValues, argument.name))
    .filter(({ isRequired }) => typedArguments.length === 0 || isRequired);
  const source = { title: `Arguments of ${name}`, server, of: name, typedValues, cure: "Add them, such as key=text." };
  return { ...typedValues, ...(await askCompleted(missingValues, source, chat)) };
}

/** Asks for the variables of a template, with the suggestions of the server. */
export async function templateValues(
  { server, uriTemplate }: { server: string; uriTemplate: string },
  chat: Chat,
): Promise<Record<string, string>> {
  const title = `Variables of ${server}:${uriTemplate}`;
  const cure = "Write the URI with the values of its variables.";
  const source = { title, server, of: { server, uriTemplate }, typedValues: {}, cure };
  return askCompleted(templateVariables(uriTemplate), source, chat);
}

/** The prompt or the template to which values belong. */
interface ValueSource {
  readonly title: string;
  readonly server: string;
  readonly of: CompletionRequest["of"];
  /** The values that were given on the line. */
  readonly typedValues: Readonly<Record<string, string>>;
  /** How the values are given if nobody can be asked. */
  readonly cure: string;
}

/** Asks for values with the completions of the server. If nobody can be asked, throws `UsageError` for required values. */
async function askCompleted(
  values: readonly AskedValue[],
  { title, server, of, typedValues, cure }: ValueSource,
  chat: Chat,
): Promise<Record<string, string>> {
  if (!chat.isAttended) {
    const missing = values.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    if (missing.length > 0) throw new UsageError(`${title}: ${missing.join(", ")} must be given.`, cure);
    return {};
  }
  const canComplete = chat.host.servers.get(server)?.info?.capabilities.completions !== undefined;
  const suggestFor: ValueQuestions["suggestFor"] = (name, answers) => {
    if (!canComplete) return undefined;
    const context = { ...typedValues, ...answers };
    return async (text, signal) => {
      const request = { of, argument: { name, value: text }, context };
      const { values: completions } = await chat.conversation.completeArgument(request, { signal });
      return { entries: completions.map((value) => ({ value })), replaces: text.length };
    };
  };
  return askValues(values, { title, suggestFor }, chat);
}
