import { type CompletionReference, LocalError } from "mcparley";
import { readArguments, requireWord, sourcesOf, textArguments } from "./arguments/arguments.ts";
import { UsageError } from "../terminal/io.ts";
import { printJson, printText } from "../terminal/screen.ts";
import type { Command } from "./connection/command.ts";
import { formerYes, serverOptions } from "./connection/options.ts";
import { type Session, chooseTarget, useServer } from "./connection/session.ts";
import { visibleLine } from "../terminal/text.ts";

const completeOptions = { yes: formerYes, ...serverOptions } as const;

export const completeCommand: Command<typeof completeOptions> = {
  usage: "TARGET prompt:NAME|URI-TEMPLATE ARGUMENT VALUE [key=text ...]",
  summary: "complete an argument of a prompt or a resource template",
  options: completeOptions,
  details: [
    "VALUE is the text typed so far. It can be empty: ''. key=text passes an argument that already has a value. " +
      "The values are printed one per line, the best first.",
  ],
  examples: ["mcparley complete handbook prompt:code_review language py"],
  async run(words, setting) {
    const { target, argumentWords } = await chooseTarget(words, setting);
    const [word, argument, value, ...contextWords] = argumentWords;
    const hint = "Such as: mcparley complete handbook prompt:code_review language py";
    const reference = readReference(
      requireWord(word, "Which prompt or resource template? prompt:NAME or URI-TEMPLATE is missing.", hint),
    );
    const name = requireWord(argument, "Which argument? ARGUMENT is missing.", hint);
    if (value === undefined)
      throw new UsageError("Which text was typed so far? VALUE is missing.", "VALUE can be empty: ''");
    const context = Object.fromEntries(
      textArguments(await readArguments(contextWords, sourcesOf(setting.io, setting.stop.signal))),
    );
    await useServer(target, setting, (session) => complete({ reference, argument: { name, value }, context }, session));
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
    throw new LocalError("not_capable", "This server does not complete arguments.");
  }
  const completion = await client.complete(reference, argument, { ...request, context });
  if (options.json) return printJson(completion, session);
  const { values, total, hasMore } = completion;
  await printText(values.map((one) => (screen.out.terminal ? visibleLine(one) : one)).join("\n"), session);
  if (hasMore) screen.note(total === undefined ? "The server has more values." : `${values.length} of ${total}.`);
}
