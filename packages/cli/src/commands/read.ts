import { type ResourceContents, isResourceNotFound } from "mcparley";
import { readResourceContents } from "mcparley/client";
import { nearest } from "../terminal/did-you-mean.ts";
import { UsageError } from "../terminal/io.ts";
import { printText } from "../terminal/screen.ts";
import { binaryIn, showText, summarize } from "../terminal/show-content.ts";
import { decodedSlices, encodedSlices, saveOutput } from "./output/save-output.ts";
import type { OptionValues } from "../terminal/options.ts";
import type { Command } from "./connection/command.ts";
import { answerOptions, formerYes, output, serverOptions } from "./connection/options.ts";
import { type Session, chooseTarget, printResult, useServer } from "./connection/session.ts";
import { requireNoMore, requireWord } from "./arguments/arguments.ts";

const readOptions = { output, ...answerOptions, yes: formerYes, ...serverOptions } as const;

type ReadSession = Session<OptionValues<typeof readOptions>>;

export const readCommand: Command<typeof readOptions> = {
  usage: "TARGET URI",
  summary: "read a resource",
  options: readOptions,
  details: [
    "Text goes to stdout unchanged. Binary data goes to stdout only if that is a file or a pipe; at a terminal, save it " +
      "with --output FILE.",
    "A reply may have 24 MiB, which is a file of 18 MB in base64. --max-reply SIZE allows larger ones.",
  ],
  examples: [
    "mcparley read handbook handbook://resources/on-call.md",
    "mcparley read handbook handbook://resources/incidents.csv -o incidents.csv",
  ],
  async run(words, setting) {
    const { target, argumentWords } = await chooseTarget(words, setting);
    const [word, ...more] = argumentWords;
    const uri = requireWord(word, "Which resource? URI is missing.", "mcparley list TARGET resources shows them.");
    requireNoMore(more, "read accepts one URI");
    await useServer(target, setting, (session) => read(uri, session));
  },
};

async function read(uri: string, session: ReadSession): Promise<void> {
  const { client, request, options, screen } = session;
  if (!client.server.capabilities.resources) throw new UsageError("This server offers no resources.");
  const result = await client.readResource(uri, request).catch((error: unknown) => explain(error, uri, session));
  screen.endProgress();
  const contents = readResourceContents(result.contents);
  if (options.output !== undefined) {
    const text = (): string => contents.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
    await saveOutput(options.output, { binaries: contents.map(binaryIn), text }, session);
  }
  if (options.json) await printResult(result, session);
  else if (options.output === undefined) for (const part of contents) await print(part, session);
}

async function print(contents: ResourceContents, session: ReadSession): Promise<void> {
  const { out: view } = session.screen;
  const binary = binaryIn(contents);
  if (binary && view.terminal) await printText(summarize(binary, `resource ${contents.uri}`, view), session);
  else if (binary) await session.screen.printAll(decodedSlices(binary.data));
  else if ("text" in contents && view.terminal) await printText(showText(contents.text, view), session);
  else if ("text" in contents) await session.screen.printAll(encodedSlices(contents.text));
}

/** Adds a suggestion to the error for an unknown URI, because the cause is most often a typing error. */
async function explain(error: unknown, uri: string, { client, request }: ReadSession): Promise<never> {
  if (!isResourceNotFound(error)) throw error;
  // The suggestion is optional: a server that cannot list its resources has no effect on the error.
  const resources = await client
    .listResources(request)
    .all()
    .catch(() => []);
  const similar = nearest(
    uri,
    resources.map((resource) => resource.uri),
  );
  throw new UsageError(
    `The server has no resource ${JSON.stringify(uri)}.`,
    similar === undefined ? "mcparley list TARGET resources shows them." : `Did you mean ${JSON.stringify(similar)}?`,
  );
}
