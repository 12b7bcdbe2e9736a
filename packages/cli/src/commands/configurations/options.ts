import { addedOptions, networkOptions } from "../../targets/options.ts";
import { type OptionValues, type Options, allTexts, isTyped, lastText } from "../../terminal/options.ts";
import { commonOptions, noInput, targetOptions, verbose } from "../connection/options.ts";

const hosts =
  "claude-code, claude-desktop, vscode, cursor, windsurf, zed, codex, gemini-cli, goose, opencode or mcparley; repeatable";
const scope = {
  name: "scope",
  value: "SCOPE",
  description: "user (all folders), project (this folder, for everyone) or local (this folder, for you)",
  read: lastText,
} as const;
const dryRun = { name: "dry-run", description: "show the change, and write nothing", read: isTyped } as const;
const yes = { name: "yes", short: "y", description: "write the change without asking", read: isTyped } as const;

export const addOptions = {
  ...targetOptions,
  to: { name: "to", value: "HOST", description: hosts, read: allTexts },
  scope,
  name: { name: "name", value: "NAME", description: "the name of the entry (that of the server)", read: lastText },
  env: {
    name: "env",
    short: "e",
    value: "NAME[=VALUE]",
    description: "write a reference to this variable, or VALUE if it is no secret; repeatable",
    read: addedOptions.env.read,
  },
  headers: {
    name: "header",
    short: "H",
    value: '"NAME: VALUE"',
    description: "write this HTTP header; a secret as '${env:NAME}'; repeatable",
    read: addedOptions.headers.read,
  },
  noPin: {
    name: "no-pin",
    description: "do not replace a package of npx or uvx by its exact version",
    read: isTyped,
  },
  noCheck: {
    name: "no-check",
    description: "do not connect to the server, and do not run the host's check",
    read: isTyped,
  },
  dryRun,
  yes,
  ...networkOptions,
} as const satisfies Options;

export type AddOptions = OptionValues<typeof addOptions>;

export const removeOptions = {
  json: commonOptions.json,
  noInput,
  verbose,
  help: commonOptions.help,
  from: { name: "from", value: "HOST", description: hosts, read: allTexts },
  scope,
  dryRun,
  yes,
} as const satisfies Options;

export type RemoveOptions = OptionValues<typeof removeOptions>;

/** The values of the options with which changes are written. */
export type WriteOptions = Pick<RemoveOptions, "json" | "noInput" | "yes" | "dryRun"> &
  Partial<Pick<AddOptions, "noCheck">>;
