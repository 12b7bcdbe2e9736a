import type { Catalogue } from "@mcparley/host";
import type { Menu, MenuEntry, Suggest } from "../terminal/questions/prompter.ts";
import { chatCommands } from "./commands/commands.ts";
import { matching } from "./commands/command.ts";
import type { Chat } from "./session/chat.ts";
import { mentionText } from "./session/mentions.ts";

/** Returns the menus of the message input: commands and prompts after `/`, resources after `@`. */
export function messageMenu(chat: Chat): Suggest {
  return (before, signal) => {
    const command = /^\/(\S*)$/.exec(before);
    if (command) return commandMenu(command[1] ?? "", before.length, chat.host.catalogue);
    const words = /^\/(\S+)\s+(.*)$/s.exec(before);
    const named = words?.[1] === undefined ? undefined : chatCommands.get(words[1]);
    if (named) return named.suggest?.(words?.[2] ?? "", chat, signal);
    const mention = /(?:^|\s)@(?:<([^<>\n]*)|(\S*))$/.exec(before);
    if (!mention) return undefined;
    const typed = mention[1] ?? mention[2] ?? "";
    return resourceMenu(typed, typed.length + (mention[1] === undefined ? 1 : 2), chat.host.catalogue);
  };
}

function commandMenu(typed: string, replaces: number, catalogue: Catalogue): Menu {
  const commands = [...chatCommands].map(([name, { summary }]): MenuEntry => ({ value: `/${name}`, detail: summary }));
  const prompts = catalogue.prompts.map(({ name, prompt }): MenuEntry => ({
    value: `/${name}`,
    ...(prompt.description !== undefined && { detail: prompt.description }),
  }));
  return { entries: matching([...commands, ...prompts], typed), replaces, isPreselected: true };
}

function resourceMenu(typed: string, replaces: number, { resources, templates }: Catalogue): Menu {
  const entries = [
    ...resources.map(({ server, resource }) => resourceEntry(server, resource.uri, resource)),
    ...templates.map(({ server, template }) => resourceEntry(server, template.uriTemplate, template)),
  ];
  return { entries: matching(entries, typed), replaces, isPreselected: true };
}

function resourceEntry(
  server: string,
  uri: string,
  about: { name: string; title?: string; description?: string },
): MenuEntry {
  const name = about.title ?? about.name;
  const detail = [name === uri ? "" : name, about.description ?? ""].filter(Boolean).join(": ");
  return { value: mentionText(server, uri), label: `${server}:${uri}`, ...(detail !== "" && { detail }) };
}
