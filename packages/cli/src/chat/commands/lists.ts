import type { Catalogue, CatalogueResource, CatalogueTemplate, CatalogueTool } from "@mcparley/host";
import { printable, printableJson } from "mcparley";
import { similarTool, toolsNamed } from "../../commands/arguments/tool-spellings.ts";
import { UsageError } from "../../terminal/io.ts";
import { type Offer, showOffer, showToolLines } from "../../commands/output/show-list.ts";
import { visibleLine } from "../../terminal/text.ts";
import { findWhenReady, untilDefined } from "../session/await-definitions.ts";
import type { Chat } from "../session/chat.ts";
import { findMentions, mentionText } from "../session/mentions.ts";
import { type ChatCommand, splitWords, wordMenu } from "./command.ts";

/** Shows the tools of all servers, or the definition of one. */
export const toolsCommand: ChatCommand = {
  usage: "[TOOL]",
  summary: "show the tools, or the definition of one",
  async run(text, chat) {
    const { terminal, view } = chat;
    const { dim } = view.style;
    const [word] = splitWords(text);
    if (word === undefined) {
      const isAny = await showByServer(
        chat,
        ({ tools }) => tools,
        (entries) =>
          showToolLines(
            entries.map(({ server, name, tool }) => ({ ...tool, server, name })),
            view,
          ),
      );
      if (isAny) terminal.print(dim("/tools NAME shows the description and the arguments of one."));
      return;
    }
    const entry = await findTool(word, chat);
    const { name, server, tool, description, inputSchema } = entry;
    terminal.print(showOffer({ tools: [{ ...tool, name }] }, view));
    terminal.print(dim(`Server ${visibleLine(server)}. The definition for the model:`));
    terminal.print(printableJson({ name, description, inputSchema }, 2));
  },
  suggest: (words, chat) => wordMenu(words, toolEntries(chat)),
};

/** Shows the prompts of all servers. */
export const promptsCommand: ChatCommand = {
  summary: "show the prompts",
  async run(_text, chat) {
    await showByServer(
      chat,
      ({ prompts }) => prompts,
      (entries) =>
        showOffer({ prompts: entries.map(({ name, prompt }) => ({ ...prompt, name: `/${name}` })) }, chat.view),
    );
  },
};

/** Shows the resources and the templates of all servers. */
export const resourcesCommand: ChatCommand = {
  summary: "show the resources and templates",
  async run(_text, chat) {
    await showByServer(
      chat,
      ({ resources, templates }) => [...resources, ...templates],
      (entries) => showOffer(resourceOffer(entries), chat.view),
    );
  },
};

/** Shows the attached resources. */
export const attachedCommand: ChatCommand = {
  summary: "show the attached resources",
  run(_text, { conversation, terminal, view }) {
    const { dim, red } = view.style;
    if (conversation.attachments.length === 0) {
      terminal.print("No resource is attached. Name one in a message: @server:uri");
      return;
    }
    for (const { server, uri, isStale, isFollowed, error } of conversation.attachments) {
      const state = isStale
        ? "changed, read with the next message"
        : isFollowed
          ? "follows its changes"
          : "not followed";
      terminal.print(`${visibleLine(mentionText(server, uri))}  ${dim(state)}`);
      if (error) terminal.print(red(`  ${printable(error.message)}`));
    }
  },
};

/** Ends the updates of an attached resource. Its content remains in the conversation. */
export const detachCommand: ChatCommand = {
  usage: "@SERVER:URI",
  summary: "do not follow the changes of a resource",
  async run(text, { host, conversation, terminal }) {
    const [mention] = findMentions(text.trim(), host);
    if (!mention) throw new UsageError("Which resource?", "Such as /detach @notes:note://today. /attached shows them.");
    if (!(await conversation.detach(mention)))
      throw new UsageError(`${mentionText(mention.server, mention.uri)} is not attached.`);
    terminal.print("Detached. Its content stays in the conversation.");
  },
  suggest(words, { conversation }) {
    const mentions = conversation.attachments.map(({ server, uri }) => ({ value: mentionText(server, uri) }));
    return wordMenu(words, mentions);
  },
};

/** Returns resources and templates with the names to type. A list without entries is left out. */
function resourceOffer(entries: readonly (CatalogueResource | CatalogueTemplate)[]): Offer {
  const offer: Offer = {};
  for (const entry of entries) {
    if ("resource" in entry) {
      const uri = mentionText(entry.server, entry.resource.uri);
      (offer.resources ??= []).push({ ...entry.resource, uri });
    } else {
      const uriTemplate = mentionText(entry.server, entry.template.uriTemplate);
      (offer.resourceTemplates ??= []).push({ ...entry.template, uriTemplate });
    }
  }
  return offer;
}

/** Returns the menu entries of the tools by their names for the model. */
export function toolEntries({ host }: Chat): { value: string; detail: string }[] {
  return host.catalogue.tools.map(({ name, tool }) => ({ value: name, detail: tool.description ?? "" }));
}

/** Finds a tool by its name in any spelling. Throws `UsageError` if there is none, or if several servers have one with this name. */
export async function findTool(name: string, chat: Chat): Promise<CatalogueTool> {
  const { host } = chat;
  // A server that still connects can have a tool with the same name.
  if (!host.catalogue.tools.some((tool) => tool.name === name)) await untilDefined(chat);
  const [tool, ...otherTools] = toolsNamed(name, host.catalogue.tools);
  if (!tool) throw new UsageError(`There is no tool ${JSON.stringify(name)}.`, hintFor(name, chat));
  if (otherTools.length === 0) return tool;
  throw new UsageError(
    `Several servers have a tool ${JSON.stringify(name)}.`,
    `Choose one: ${[tool, ...otherTools].map((one) => one.name).join(", ")}`,
  );
}

/** Returns a similar name, and the cure for a tool that a server hides. */
function hintFor(name: string, { host, signInServers }: Chat): string {
  const hint = similarTool(name, host.catalogue.tools);
  const ready = signInServers.filter((server) => host.servers.get(server)?.state === "ready");
  // The name can begin with that of the server.
  const server = ready.find((one) => name.startsWith(one)) ?? ready[0];
  if (server === undefined) return hint;
  return `${hint} ${server} can hide tools for which you lack scopes: /servers sign-in ${server} SCOPE requests them.`;
}

/**
 * Prints the entries of a list below the names of their servers. If the list is empty, waits for servers that connect. Returns whether the
 * list has any.
 */
async function showByServer<T extends { server: string }>(
  chat: Chat,
  list: (catalogue: Catalogue) => readonly T[],
  show: (ofServer: readonly T[]) => string,
): Promise<boolean> {
  const { terminal, view } = chat;
  const readyEntries = await findWhenReady(chat, (catalogue) => {
    const entries = list(catalogue);
    return entries.length > 0 ? entries : undefined;
  });
  if (!readyEntries) terminal.print("The servers offer none. /servers shows their state.");
  const entries = readyEntries ?? [];
  for (const server of new Set(entries.map((entry) => entry.server))) {
    terminal.print(view.style.inverse(` ${visibleLine(server)} `));
    terminal.print(show(entries.filter((entry) => entry.server === server)));
  }
  return entries.length > 0;
}
