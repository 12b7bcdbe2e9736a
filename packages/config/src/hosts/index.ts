import { ConfigError, quoteName } from "../config-error.ts";
import type { HostId } from "../model.ts";
import { claudeCode, claudeDesktop } from "./anthropic.ts";
import { codex } from "./codex.ts";
import { cursor, vscode, windsurf, zed } from "./editors.ts";
import { geminiCli } from "./gemini-cli.ts";
import { goose } from "./goose.ts";
import type { Host, HostRules } from "./host.ts";
import { mcparley } from "./mcparley.ts";
import { opencode } from "./opencode.ts";

export const allRules: readonly HostRules[] = [
  claudeCode,
  claudeDesktop,
  vscode,
  cursor,
  windsurf,
  zed,
  codex,
  geminiCli,
  goose,
  opencode,
  mcparley,
];

/**
 * The hosts whose configuration the package reads and writes.
 *
 * @example
 * ```ts
 * import { hosts } from "@mcparley/config";
 *
 * for (const { id, title, references } of hosts) console.log(id, title, references.example);
 * ```
 */
export const hosts: readonly Host[] = allRules.map(
  ({ id, title, documentation, transports, references, check }): Host => ({
    id,
    title,
    documentation,
    transports,
    references,
    ...(check && { check }),
  }),
);

export function rulesOf(id: HostId): HostRules {
  const rules = allRules.find((host) => host.id === id);
  if (rules) return rules;
  const hostIds = allRules.map((host) => host.id).join(", ");
  throw new ConfigError("unsupported", `There is no host ${quoteName(id)}.`, { cure: `The hosts are ${hostIds}.` });
}
