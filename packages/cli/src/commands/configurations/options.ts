import { networkOptions, readHeaders, readVariables } from "../../targets/options.ts";
import { type OptionValues, flag, options, text, textAs, texts } from "../../terminal/options.ts";
import { readRevision } from "../../targets/revision.ts";
import { commonOptions, targetOptions } from "../connection/options.ts";

const hosts =
  "claude-code, claude-desktop, vscode, cursor, windsurf, zed, codex, gemini-cli, goose, opencode or mcparley; repeatable";

const { to, from, scope, dryRun, yes } = options({
  to: texts("HOST", hosts),
  from: texts("HOST", hosts),
  scope: text("SCOPE", "user (all folders), project (this folder, for everyone) or local (this folder, for you)"),
  dryRun: flag("show the change, and write nothing"),
  yes: flag("write the change without asking", "y"),
});

export const addOptions = {
  ...targetOptions,
  to,
  scope,
  ...options({
    name: text("NAME", "the name of the entry (that of the server)"),
    replace: flag("replace an entry that has the name; rights such as trust are removed from it"),
    env: {
      short: "e",
      value: "NAME[=VALUE]",
      description: "write a reference to this variable, or VALUE if it is no secret; repeatable",
      read: readVariables,
    },
    header: {
      short: "H",
      value: '"NAME: VALUE"',
      description: "write this HTTP header; a secret as '${env:NAME}'; repeatable",
      read: readHeaders,
    },
    revision: textAs(
      "VERSION",
      "write the revision of the protocol for this server, which only mcparley reads",
      (version) => readRevision(version),
    ),
    noPin: flag("do not replace a package of npx or uvx by its exact version"),
    noCheck: flag("do not connect to the server, and do not run the host's check"),
  }),
  dryRun,
  yes,
  ...networkOptions,
} as const;

export type AddOptions = OptionValues<typeof addOptions>;

const { json, noInput, verbose, help } = commonOptions;
export const removeOptions = { json, noInput, verbose, help, from, scope, dryRun, yes } as const;

export type RemoveOptions = OptionValues<typeof removeOptions>;

/** The values of the options with which changes are written. */
export type WriteOptions = Pick<RemoveOptions, "json" | "noInput" | "yes" | "dryRun"> &
  Partial<Pick<AddOptions, "noCheck">>;
