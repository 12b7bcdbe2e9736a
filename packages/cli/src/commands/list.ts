import { ErrorCode, ProtocolError } from "mcparley";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { UsageError } from "../terminal/io.ts";
import { Reported, errorDocument, exitCodeOf, reportError } from "./connection/report-error.ts";
import { paragraph, printJson, printText } from "../terminal/screen.ts";
import { type OptionValues, flag, options } from "../terminal/options.ts";
import type { Command } from "./connection/command.ts";
import { answerOptions, formerYes, serverOptions } from "./connection/options.ts";
import { type Session, chooseTarget, shownTarget, useServer } from "./connection/session.ts";
import { type Offer, mayHide, showOffer } from "./output/show-list.ts";
import { visibleLine } from "../terminal/text.ts";
import { requireNoMore } from "./arguments/arguments.ts";

const kinds = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  templates: "resourceTemplates",
} as const;

const listOptions = {
  ...options({ instructions: flag("show all instructions of the server, not only their start") }),
  sample: answerOptions.sample,
  yes: formerYes,
  ...serverOptions,
} as const;

const needsCapability =
  "A server can hide tools that need a model or folders. To see them, add --sample TEXT or --root DIR.";

type ListSession = Session<OptionValues<typeof listOptions>>;

export const listCommand: Command<typeof listOptions> = {
  usage: "TARGET [tools|prompts|resources|templates]",
  summary: "show what a server offers",
  options: listOptions,
  details: [
    "Without a kind, everything that the server declares is listed. A list that the server refuses is reported on stderr, and " +
      "the others are printed.",
  ],
  examples: ["mcparley list http://127.0.0.1:3333/mcp", "mcparley list handbook tools --json"],
  async run(words, setting) {
    const { target, argumentWords } = await chooseTarget(words, setting);
    const [word, ...more] = argumentWords;
    requireNoMore(more, "list accepts one kind");
    const kind = word === undefined ? undefined : readKind(word);
    await useServer(target, setting, (session) => list(kind, session));
  },
};

function readKind(word: string): keyof Offer {
  if (Object.hasOwn(kinds, word)) return kinds[word as keyof typeof kinds];
  throw new UsageError(`${JSON.stringify(word)} is not a kind of list.`, didYouMean(word, Object.keys(kinds)));
}

async function list(kind: keyof Offer | undefined, session: ListSession): Promise<void> {
  const { client, options, screen, facts } = session;
  const { offer, failures, emptyLists } = await fetchOffer(kind, session);
  const [first] = failures;
  // A document without any list would hide that nothing could be listed.
  if (first && Object.keys(offer).length === 0 && (options.json || !(first.error instanceof ProtocolError))) {
    throw first.error;
  }
  const { info, revision, instructions } = client.server;
  if (options.json) {
    const errors = failures.map(({ method, error }) => ({ method, ...errorDocument(error, { ...facts, method }) }));
    const lists = errors.length > 0 ? { ...offer, errors } : offer;
    await printJson(
      kind === undefined ? { server: info, revision, ...(options.instructions && { instructions }), ...lists } : lists,
      session,
    );
  } else {
    const hidesTools = screen.out.terminal && offer.tools && !options.sample && !options.root?.length;
    const lists = [
      showOffer(offer, screen.out),
      ...(hidesTools ? [screen.out.style.dim(paragraph(needsCapability, screen.out))] : []),
    ].join("\n\n");
    await printText(kind === undefined ? [header(session), lists].filter(Boolean).join("\n\n") : lists, session);
    const { verbose } = options;
    if (emptyLists.length > 0)
      screen.note(paragraph(`The list of ${emptyLists.join(" and ")} is empty. ${mayHide}`, screen.err));
    for (const { method, error } of failures)
      await reportError(error, { screen, json: undefined, verbose, ...facts, method });
  }
  if (first) throw new Reported(exitCodeOf(first.error));
}

/** A list that the server did not return. */
interface Failure {
  readonly method: string;
  readonly error: unknown;
}

interface Fetched {
  readonly offer: Offer;
  readonly failures: readonly Failure[];
  /** The kinds of which the server has returned no entry. Most servers with resources have no templates, so these count as one. */
  readonly emptyLists: readonly string[];
}

/** Reads the requested lists. The failure of one does not affect the others. */
async function fetchOffer(kind: keyof Offer | undefined, { client, request }: ListSession): Promise<Fetched> {
  const { tools, prompts, resources } = client.server.capabilities;
  const parts = [
    { name: "tools", method: "tools/list", isOffered: tools, list: () => client.listTools(request) },
    { name: "prompts", method: "prompts/list", isOffered: prompts, list: () => client.listPrompts(request) },
    { name: "resources", method: "resources/list", isOffered: resources, list: () => client.listResources(request) },
    {
      name: "resourceTemplates",
      method: "resources/templates/list",
      isOffered: resources,
      list: () => client.listResourceTemplates(request),
    },
  ] as const;
  const offer: Record<string, unknown[]> = {};
  const failures: Failure[] = [];
  const entryCounts: Record<string, number> = {};
  for (const { name, method, isOffered, list } of parts) {
    if (kind === undefined ? !isOffered : kind !== name) continue;
    try {
      const entries: unknown[] = (offer[name] = isOffered ? await list().all() : []);
      const templates = kind === undefined ? "resources" : "templates";
      const subject = name === "resourceTemplates" ? templates : name;
      if (isOffered) entryCounts[subject] = (entryCounts[subject] ?? 0) + entries.length;
    } catch (error) {
      if (request.signal?.aborted) throw error;
      // Servers with resources and no templates often declare `resources` and answer so.
      if (error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound) offer[name] = [];
      else failures.push({ method, error });
    }
  }
  const emptyLists = Object.keys(entryCounts).filter((subject) => entryCounts[subject] === 0);
  return { offer, failures, emptyLists };
}

function header(session: ListSession): string {
  const { client, screen } = session;
  const { info, revision, instructions } = client.server;
  const { bold, dim } = screen.out.style;
  const name = info === undefined ? "A server without a name" : `${info.title ?? info.name} ${info.version}`;
  const lines = [
    `${bold(visibleLine(name))} ${dim(`at ${visibleLine(shownTarget(client.target))}, revision ${visibleLine(revision)}`)}`,
  ];
  if (info?.description) lines.push(paragraph(info.description, screen.out));
  if (instructions) lines.push("", ...showInstructions(instructions, session));
  return lines.join("\n");
}

/** Maximum number of characters and lines of the instructions without `--instructions`. */
const shortest = { length: 240, lines: 3 };

/** Returns the instructions for the model, or their start. They are often much longer than the lists. */
function showInstructions(instructions: string, { options, screen }: ListSession): string[] {
  const fullText = paragraph(instructions, screen.out);
  const start = paragraph(cutAtWord(instructions.trim()), screen.out).split("\n").slice(0, shortest.lines).join("\n");
  if (options.instructions || start === fullText) return [fullText];
  const count = instructions.trim().length;
  return [`${start} ...`, screen.out.style.dim(`[${count} characters of instructions: --instructions shows all]`)];
}

function cutAtWord(text: string): string {
  if (text.length <= shortest.length) return text;
  const start = text.slice(0, shortest.length);
  return start.slice(0, Math.max(start.search(/\s\S*$/), 0)) || start;
}
