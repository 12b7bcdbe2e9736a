import { addCommand } from "./add.ts";
import { callCommand } from "./call.ts";
import { chatCommand } from "./chat.ts";
import { completeCommand } from "./complete.ts";
import { listCommand } from "./list.ts";
import { loginCommand } from "./login.ts";
import { logoutCommand } from "./logout.ts";
import { promptCommand } from "./prompt.ts";
import { readCommand } from "./read.ts";
import { removeCommand } from "./remove.ts";
import { serveCommand } from "./serve.ts";
import { serversCommand } from "./servers.ts";
import { watchCommand } from "./watch.ts";
import { whoamiCommand } from "./whoami.ts";
import type { Command, CommandDeclaration } from "./connection/command.ts";

/** The commands that `runClientCommand` runs, by name. */
export const clientCommands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["list", listCommand],
  ["call", callCommand],
  ["prompt", promptCommand],
  ["read", readCommand],
  ["complete", completeCommand],
  ["watch", watchCommand],
  ["login", loginCommand],
  ["logout", logoutCommand],
  ["whoami", whoamiCommand],
  ["servers", serversCommand],
  ["add", addCommand],
  ["remove", removeCommand],
]);

/** All commands, in the order of the help. */
export const declaredCommands: ReadonlyMap<string, CommandDeclaration> = new Map<string, CommandDeclaration>([
  ["serve", serveCommand],
  ["chat", chatCommand],
  ...clientCommands,
]);
