import type { Client } from "mcparley/client";
import { didYouMean } from "../../did-you-mean.ts";
import { UsageError } from "../io.ts";
import { paragraph, printJson, printText } from "../screen.ts";
import type { ClientCommand, Session } from "../session.ts";
import { type Offer, showOffer } from "../show-list.ts";
import { visibleLine } from "../terminal-text.ts";
import { requireNoMore } from "../arguments.ts";

const kinds = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  templates: "resourceTemplates",
} as const;

export const listCommand: ClientCommand = {
  usage: "TARGET [tools|prompts|resources|templates]",
  summary: "show what a server offers",
  details: ["Without a kind, everything that the server says it has is listed."],
  examples: ["mcparley list http://127.0.0.1:3333/mcp", "mcparley list handbook tools --json"],
  prepare(words) {
    const [word, ...more] = words;
    requireNoMore(more, "list takes one kind");
    const kind = word === undefined ? undefined : readKind(word);
    return (session) => list(kind, session);
  },
};

function readKind(word: string): keyof Offer {
  if (Object.hasOwn(kinds, word)) return kinds[word as keyof typeof kinds];
  throw new UsageError(`${JSON.stringify(word)} is not a kind of list.`, didYouMean(word, Object.keys(kinds)));
}

async function list(kind: keyof Offer | undefined, session: Session): Promise<void> {
  const { client, options, screen } = session;
  const offer = await fetchOffer(kind, session);
  const { info, revision } = client.server;
  if (options.json) {
    await printJson(kind === undefined ? { server: info, revision, ...offer } : offer, session);
    return;
  }
  const lists = showOffer(offer, screen.out);
  await printText(kind === undefined ? [header(session), lists].filter(Boolean).join("\n\n") : lists, session);
}

async function fetchOffer(kind: keyof Offer | undefined, { client, request }: Session): Promise<Offer> {
  const { tools, prompts, resources } = client.server.capabilities;
  const wanted = (name: keyof Offer): boolean => kind === undefined || kind === name;
  const offer: Offer = {};
  if (wanted("tools") && (tools || kind)) offer.tools = tools ? await client.listTools(request).all() : [];
  if (wanted("prompts") && (prompts || kind)) offer.prompts = prompts ? await client.listPrompts(request).all() : [];
  if (wanted("resources") && (resources || kind)) {
    offer.resources = resources ? await client.listResources(request).all() : [];
  }
  if (wanted("resourceTemplates") && (resources || kind)) {
    offer.resourceTemplates = resources ? await templatesOf(client, request) : [];
  }
  return offer;
}

async function templatesOf(
  client: Client,
  request: Session["request"],
): Promise<NonNullable<Offer["resourceTemplates"]>> {
  return client.listResourceTemplates(request).all();
}

function header({ client, screen }: Session): string {
  const { info, revision, instructions } = client.server;
  const { bold, dim } = screen.out.style;
  const name = info === undefined ? "A server without a name" : `${info.title ?? info.name} ${info.version}`;
  const lines = [
    `${bold(visibleLine(name))} ${dim(`at ${visibleLine(client.target)}, revision ${visibleLine(revision)}`)}`,
  ];
  if (info?.description) lines.push(paragraph(info.description, screen.out));
  if (instructions) lines.push("", paragraph(instructions, screen.out));
  return lines.join("\n");
}
