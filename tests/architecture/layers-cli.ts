import path from "node:path";
import { type Source, parseFolder } from "../../scripts/house/syntax.mjs";
import type { Layers } from "./layers.ts";
import { root } from "./source-files.ts";

/**
 * The rooms of the command: the folders of two levels. A room may import itself and the listed rooms, which are before it in this table. The
 * files above all rooms may import each.
 */
export const commandRooms: Layers = {
  terminal: [],
  "terminal/questions": ["terminal"],
  "terminal/interactive": ["terminal", "terminal/questions"],
  targets: ["terminal", "terminal/questions"],
  "targets/sign-in": ["terminal", "terminal/questions", "targets"],
  "commands/arguments": ["terminal"],
  "commands/output": ["terminal", "terminal/questions", "commands/arguments"],
  "commands/connection": ["terminal", "terminal/questions", "targets", "targets/sign-in", "commands/arguments"],
  "commands/configurations": ["terminal", "terminal/questions", "targets", "commands/connection"],
  commands: [
    "terminal",
    "terminal/questions",
    "targets",
    "targets/sign-in",
    "commands/arguments",
    "commands/output",
    "commands/connection",
    "commands/configurations",
  ],
  "chat/history": ["terminal"],
  "chat/model": ["terminal", "targets"],
  "chat/dialogs": ["terminal", "terminal/questions", "commands/arguments"],
  "chat/script": ["terminal", "targets", "targets/sign-in", "commands/connection", "chat/history"],
  "chat/servers": [
    "terminal",
    "terminal/questions",
    "targets",
    "targets/sign-in",
    "commands/arguments",
    "commands/connection",
    "commands",
  ],
  "chat/session": [
    "terminal",
    "terminal/questions",
    "terminal/interactive",
    "targets",
    "targets/sign-in",
    "commands/arguments",
    "commands/connection",
    "chat/history",
    "chat/model",
    "chat/script",
    "chat/servers",
  ],
  "chat/commands": [
    "terminal",
    "terminal/questions",
    "targets",
    "targets/sign-in",
    "commands/arguments",
    "commands/connection",
    "commands/output",
    "chat/history",
    "chat/model",
    "chat/session",
  ],
  chat: [
    "terminal",
    "terminal/questions",
    "terminal/interactive",
    "targets",
    "targets/sign-in",
    "commands/arguments",
    "commands/connection",
    "commands",
    "chat/history",
    "chat/model",
    "chat/dialogs",
    "chat/script",
    "chat/servers",
    "chat/session",
    "chat/commands",
  ],
  "serve/yaml": ["terminal"],
  "serve/files": ["serve/yaml"],
  "serve/settings": ["terminal", "serve/yaml", "serve/files"],
  "serve/tools": ["terminal", "serve/yaml", "serve/files"],
  "serve/resources": ["terminal", "serve/yaml", "serve/files", "serve/settings"],
  "serve/prompts": ["terminal", "serve/yaml", "serve/files", "serve/settings", "serve/tools", "serve/resources"],
  serve: [
    "terminal",
    "commands",
    "serve/yaml",
    "serve/files",
    "serve/settings",
    "serve/tools",
    "serve/resources",
    "serve/prompts",
  ],
};

/** Maximum number of files of a room. */
export const mostFiles = 20;

/** The sources of the command, without tests and their support. */
export function commandSources(): Source[] {
  const sources = parseFolder(path.join(root, "packages/cli/src"));
  return sources.filter(({ name }) => !name.split("/").includes("testing"));
}

/** Returns the room of a file: its folder, of at most two levels. Empty for a file above all rooms. */
export function roomOf(name: string): string {
  return name.split("/").slice(0, -1).slice(0, 2).join("/");
}

/** Returns the imports of a room by another, as `room other`, with the files. Types and `import()` count. */
export function importsOfRooms(sources: readonly Source[]): { rooms: string; files: string }[] {
  return sources.flatMap(({ name, imports }) =>
    imports
      .filter(({ from }) => from.endsWith(".ts") && roomOf(name) !== "" && roomOf(from) !== roomOf(name))
      .map(({ from, kind }) => ({
        rooms: `${roomOf(name)} ${roomOf(from)}`,
        files: `${name} imports ${from} (${kind})`,
      })),
  );
}
