import { type CataloguePrompt, type CompletionRequest, templateVariables } from "@mcparley/host";
import type { Suggest } from "../../terminal/questions/prompter.ts";
import { type TypedArgument } from "../../commands/arguments/arguments.ts";
import { UsageError } from "../../terminal/io.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { visibleLine } from "../../terminal/text.ts";
import { type AskedValue, askValues } from "./ask-values.ts";
import type { Chat } from "./chat.ts";

/** Asks for the arguments of a prompt that were not given, with the suggestions of the server. */
export async function promptValues(
  { name, server, prompt }: CataloguePrompt,
  typedValues: readonly TypedArgument[],
  chat: Chat,
): Promise<Record<string, string>> {
  const known = prompt.arguments ?? [];
  const names = known.map((argument) => argument.name);
  for (const { key } of typedValues) {
    if (!names.includes(key))
      throw new UsageError(`The prompt ${name} has no argument ${JSON.stringify(key)}.`, didYouMean(key, names));
  }
  const values = Object.fromEntries(
    typedValues.map(({ key, value }) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  // With arguments on the line, only those that the prompt cannot be expanded without are asked for.
  const asked = known.filter(
    (argument) => !(argument.name in values) && (typedValues.length === 0 || argument.required === true),
  );
  const answers = await ask(
    asked.map(toValue),
    { title: `Arguments of ${name}`, server, of: name, typedValues: values, cure: "Add them, such as key=text." },
    chat,
  );
  return { ...values, ...answers };
}

/** Asks for the variables of a template, with the suggestions of the server. */
export async function templateValues(
  { server, uriTemplate }: { server: string; uriTemplate: string },
  chat: Chat,
): Promise<Record<string, string>> {
  const values = templateVariables(uriTemplate).map(({ name, isRequired }) => ({
    name,
    description: undefined,
    facts: isRequired ? "required" : "optional",
    isRequired,
  }));
  const title = `Variables of ${server}:${uriTemplate}`;
  const cure = "Write the URI with the values of its variables.";
  return ask(values, { title, server, of: { server, uriTemplate }, typedValues: {}, cure }, chat);
}

interface Asked {
  readonly title: string;
  readonly server: string;
  readonly of: CompletionRequest["of"];
  /** The values that were given on the line. */
  readonly typedValues: Readonly<Record<string, string>>;
  /** How the values are given if nobody can be asked. */
  readonly cure: string;
}

async function ask(
  values: readonly AskedValue[],
  { title, server, of, typedValues, cure }: Asked,
  chat: Chat,
): Promise<Record<string, string>> {
  if (!chat.isAttended) {
    const missing = values.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    if (missing.length > 0) throw new UsageError(`${title}: ${missing.join(", ")} must be given.`, cure);
    return {};
  }
  if (values.length === 0) return {};
  const canComplete = chat.host.servers.get(server)?.info?.capabilities.completions !== undefined;
  const suggestFor = (name: string, known: Readonly<Record<string, string>>): Suggest | undefined =>
    canComplete ? completions(of, { name, known: { ...typedValues, ...known } }, chat) : undefined;
  return chat.dialogs.talk(new AbortController().signal, async (prompter, view) => {
    prompter.say(view.style.bold(visibleLine(title)));
    return askValues(values, { prompter, view, suggestFor });
  });
}

function completions(
  of: CompletionRequest["of"],
  { name, known }: { name: string; known: Readonly<Record<string, string>> },
  { conversation }: Chat,
): Suggest {
  return async (before, signal) => {
    const { values } = await conversation.completeArgument(
      { of, argument: { name, value: before }, context: known },
      { signal },
    );
    return { entries: values.map((value) => ({ value })), replaces: before.length };
  };
}

function toValue({
  name,
  description,
  title,
  required,
}: NonNullable<CataloguePrompt["prompt"]["arguments"]>[number]): AskedValue {
  return {
    name,
    description: description ?? title,
    facts: required ? "required" : "optional",
    isRequired: required === true,
  };
}
