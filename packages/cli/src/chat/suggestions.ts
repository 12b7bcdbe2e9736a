import type { Catalogue } from "@mcparley/host";
import type { Menu, MenuEntry, Suggest } from "../terminal/questions/prompter.ts";
import { chatCommands } from "./commands/commands.ts";
import { nameMenu } from "./commands/command.ts";
import type { Chat } from "./session/chat.ts";
import { mentionText } from "./session/mentions.ts";

/** Returns the menus of the message input: commands and prompts after `/`, resources after `@`. */
export function messageMenu(chat: Chat): Suggest {
  return (text, signal) => {
    const command = /^\/(\S*)$/.exec(text);
    if (command) return commandMenu(command[1] ?? "", text.length, chat.host.catalogue);
    const words = /^\/(\S+)\s+(.*)$/s.exec(text);
    const namedCommand = words?.[1] === undefined ? undefined : chatCommands.get(words[1]);
    if (namedCommand) return namedCommand.suggest?.(words?.[2] ?? "", chat, signal);
    const mention = /(?:^|\s)@(?:<([^<>\n]*)|(\S*))$/.exec(text);
    if (!mention) return undefined;
    const query = mention[1] ?? mention[2] ?? "";
    return resourceMenu(query, query.length + (mention[1] === undefined ? 1 : 2), chat.host.catalogue);
  };
}

function commandMenu(query: string, replaces: number, catalogue: Catalogue): Menu {
  const commands = [...chatCommands].map(([name, { summary }]): MenuEntry => ({ value: `/${name}`, detail: summary }));
  const prompts = catalogue.prompts.map(({ name, prompt }): MenuEntry => ({
    value: `/${name}`,
    ...(prompt.description !== undefined && { detail: prompt.description }),
  }));
  return nameMenu([...commands, ...prompts], query, replaces);
}

function resourceMenu(query: string, replaces: number, { resources, templates }: Catalogue): Menu {
  const entries = [
    ...resources.map(({ server, resource }) => resourceEntry(server, resource.uri, resource)),
    ...templates.map(({ server, template }) => resourceEntry(server, template.uriTemplate, template)),
  ];
  return nameMenu(entries, query, replaces);
}

function resourceEntry(
  server: string,
  uri: string,
  definition: { name: string; title?: string; description?: string },
): MenuEntry {
  const name = definition.title ?? definition.name;
  const detail = [name === uri ? "" : name, definition.description ?? ""].filter(Boolean).join(": ");
  return { value: mentionText(server, uri), label: `${server}:${uri}`, ...(detail !== "" && { detail }) };
}
