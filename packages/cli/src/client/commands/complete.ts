import { type CompletionReference, LocalError } from "mcparley";
import { readArguments, requireWord, sourcesOf, textArguments } from "../arguments.ts";
import { UsageError } from "../io.ts";
import { printJson, printText } from "../screen.ts";
import type { ClientCommand, Session } from "../session.ts";
import { visibleLine } from "../terminal-text.ts";

export const completeCommand: ClientCommand = {
  usage: "TARGET prompt:NAME|URI-TEMPLATE ARGUMENT VALUE [key=text ...]",
  summary: "ask for the values an argument may have",
  details: [
    "VALUE is what was typed so far; it may be empty, as in ''. key=text gives the arguments that are filled in already. " +
      "The values are printed one a line, the best first.",
  ],
  examples: ["mcparley complete handbook prompt:code_review language py"],
  async prepare(words, io) {
    const [target, argument, value, ...rest] = words;
    const hint = "Such as: mcparley complete handbook prompt:code_review language py";
    const reference = readReference(requireWord(target, "What is to be completed?", hint));
    const name = requireWord(argument, "Which argument? ARGUMENT is missing.", hint);
    if (value === undefined) throw new UsageError("What was typed so far? VALUE is missing.", "It may be empty: ''");
    const context = Object.fromEntries(textArguments(await readArguments(rest, sourcesOf(io))));
    return (session) => complete({ reference, argument: { name, value }, context }, session);
  },
};

function readReference(word: string): CompletionReference {
  if (word.startsWith("prompt:")) return { type: "ref/prompt", name: word.slice("prompt:".length) };
  if (/[:{]/.test(word)) return { type: "ref/resource", uri: word };
  throw new UsageError(
    `${JSON.stringify(word)} is neither prompt:NAME nor the template of a URI.`,
    `For the prompt write prompt:${word}`,
  );
}

interface Question {
  reference: CompletionReference;
  argument: { name: string; value: string };
  /** The values of the other arguments. */
  context: Record<string, string>;
}

async function complete({ reference, argument, context }: Question, session: Session): Promise<void> {
  const { client, request, options, screen } = session;
  if (!client.server.capabilities.completions) {
    throw new LocalError("not_capable", "This server completes no arguments.");
  }
  const completion = await client.complete(reference, argument, { ...request, context });
  if (options.json) return printJson(completion, session);
  const { values, total, hasMore } = completion;
  await printText(values.map((one) => (screen.out.terminal ? visibleLine(one) : one)).join("\n"), session);
  if (hasMore) screen.note(total === undefined ? "There are more." : `${values.length} of ${total}.`);
}
