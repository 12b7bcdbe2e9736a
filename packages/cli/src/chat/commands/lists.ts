import type { Catalogue, CatalogueResource, CatalogueTemplate } from "@mcparley/host";
import { printableJson } from "mcparley";
import { UsageError } from "../../terminal/io.ts";
import { type Offer, showOffer, showToolLines } from "../../commands/output/show-list.ts";
import { visibleLine } from "../../terminal/text.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { findWhenReady } from "../session/await-definitions.ts";
import type { Chat } from "../session/chat.ts";
import { mentionText } from "../session/mentions.ts";
import type { ChatCommand } from "./command.ts";
import { splitWords, wordMenu } from "./words.ts";

/** Shows the tools of all servers, or the definition of one. */
export const toolsCommand: ChatCommand = {
  usage: "[TOOL]",
  summary: "show the tools, or the definition of one",
  async run(text, chat) {
    const [word] = splitWords(text);
    if (word === undefined) return showTools(chat);
    const found = await findWhenReady(chat, (catalogue) => catalogue.tool(word));
    if (!found)
      throw new UsageError(
        `There is no tool ${JSON.stringify(word)}.`,
        didYouMean(
          word,
          chat.host.catalogue.tools.map(({ name }) => name),
        ),
      );
    const { name, server, tool, description, inputSchema } = found;
    chat.terminal.print(showOffer({ tools: [{ ...tool, name }] }, chat.view));
    chat.terminal.print(chat.view.style.dim(`Server ${visibleLine(server)}. The definition for the model:`));
    chat.terminal.print(printableJson({ name, description, inputSchema }, 2));
  },
  suggest: (words, chat) => wordMenu(words, toolEntries(chat)),
};

async function showTools(chat: Chat): Promise<void> {
  const { terminal, view } = chat;
  const found = await listed(chat, (catalogue) => catalogue.tools);
  const tools = found.map(({ server, name, tool }) => ({ ...tool, server, name }));
  showByServer(tools, (ofServer) => showToolLines(ofServer, view), chat);
  if (tools.length > 0) terminal.print(view.style.dim("/tools NAME shows the description and the arguments of one."));
}

/** Shows the prompts of all servers. */
export const promptsCommand: ChatCommand = {
  usage: "",
  summary: "show the prompts",
  run: async (_text, chat) =>
    showByServer(
      await listed(chat, (catalogue) => catalogue.prompts),
      (entries) =>
        showOffer({ prompts: entries.map(({ name, prompt }) => ({ ...prompt, name: `/${name}` })) }, chat.view),
      chat,
    ),
};

/** Shows the resources and the templates of all servers. */
export const resourcesCommand: ChatCommand = {
  usage: "",
  summary: "show the resources and templates",
  async run(_text, chat) {
    const entries = await listed(chat, ({ resources, templates }) => [...resources, ...templates]);
    showByServer(entries, (ofServer) => showOffer(resourceOffer(ofServer), chat.view), chat);
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

/** Returns a list of the catalogue. If it is empty, waits for servers that connect. */
async function listed<T>(chat: Chat, list: (catalogue: Catalogue) => readonly T[]): Promise<readonly T[]> {
  const found = await findWhenReady(chat, (catalogue) => {
    const entries = list(catalogue);
    return entries.length > 0 ? entries : undefined;
  });
  return found ?? [];
}

/** Prints the entries of a list below the names of their servers. */
function showByServer<T extends { server: string }>(
  entries: readonly T[],
  show: (ofServer: readonly T[]) => string,
  { terminal, view }: Chat,
): void {
  if (entries.length === 0) terminal.print("The servers offer none. /servers shows their state.");
  for (const server of new Set(entries.map((entry) => entry.server))) {
    terminal.print(view.style.inverse(` ${visibleLine(server)} `));
    terminal.print(show(entries.filter((entry) => entry.server === server)));
  }
}
