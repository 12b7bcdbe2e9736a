import { callCommand } from "./call.ts";
import { helpCommand, newCommand, quitCommand } from "./help.ts";
import { promptsCommand, resourcesCommand, toolsCommand } from "./lists.ts";
import { attachedCommand, detachCommand } from "./attached.ts";
import { rootsCommand } from "./roots.ts";
import { saveCommand } from "./save.ts";
import { serversCommand } from "./servers.ts";
import { whyCommand } from "./why.ts";
import type { ChatCommand } from "./command.ts";

/** The commands of a chat by their names, in the order of the help. */
export const chatCommands: ReadonlyMap<string, ChatCommand> = new Map<string, ChatCommand>([
  ["help", helpCommand(() => chatCommands)],
  ["servers", serversCommand],
  ["tools", toolsCommand],
  ["call", callCommand],
  ["resources", resourcesCommand],
  ["prompts", promptsCommand],
  ["attached", attachedCommand],
  ["detach", detachCommand],
  ["roots", rootsCommand],
  ["why", whyCommand],
  ["save", saveCommand],
  ["new", newCommand],
  ["quit", quitCommand],
]);
