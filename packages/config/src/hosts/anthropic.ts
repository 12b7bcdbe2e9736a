import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Scope } from "../model.ts";
import {
  type DisabledList,
  type HostRules,
  type Place,
  filesWith,
  join,
  refuseForScripts,
  settingsFolder,
} from "./host.ts";
import { mcpServers } from "./mcp-servers.ts";
import { noReference, shellReference } from "./write-value.ts";

/** Claude Code keeps the servers of the scopes `user` and `local` in one file, with the history of all projects. */
export const claudeCode: HostRules = {
  ...mcpServers({ reference: shellReference, type: "always", more: [] }),
  id: "claude-code",
  title: "Claude Code",
  documentation: "https://code.claude.com/docs/en/mcp",
  transports: ["stdio", "http", "sse"],
  references: { env: "text", input: false, example: "${NAME}" },
  check: ["claude", "mcp", "list"],
  syntax: "dollar-brace",
  // The file also has the history of each project, with pasted texts, and grows to several MiB.
  limit: 16 * 1024 * 1024,
  locations(place) {
    const { file, path } = projectSettings(place);
    return [
      { scope: "user", file, path: ["mcpServers"] },
      { scope: "project", file: join(place, place.folder, ".mcp.json"), path: ["mcpServers"] },
      { scope: "local", file, path: [...path, "mcpServers"] },
    ];
  },
  disabledLists(place) {
    const user = place.env["CLAUDE_CONFIG_DIR"] || join(place, place.home, ".claude");
    const project = join(place, place.folder, ".claude");
    const { file, path } = projectSettings(place);
    return [
      listIn("user", join(place, user, "settings.json")),
      listIn("project", join(place, project, "settings.json")),
      listIn("project", join(place, project, "settings.local.json")),
      listIn("local", file, path),
      { scope: "local", file, path: [...path, "disabledMcpServers"], disables: ["user", "project", "local"] },
    ];
  },
  refuseName: (name) =>
    refuseForScripts(name) ?? (/^[\w-]+$/.test(name) ? undefined : 'Claude Code accepts letters, digits, "_" and "-"'),
};

/** Returns the file of the user and the keys of the settings for one project. Claude Code names a project by its repository. */
function projectSettings(place: Place): { file: string; path: readonly string[] } {
  const file = join(place, place.env["CLAUDE_CONFIG_DIR"] || place.home, ".claude.json");
  return { file, path: ["projects", repositoryOf(place.folder).replaceAll("\\", "/")] };
}

/** Returns the list of the disabled servers of `.mcp.json` in a file. */
function listIn(scope: Scope, file: string, path: readonly string[] = []): DisabledList {
  return { scope, file, path: [...path, "disabledMcpjsonServers"], disables: ["project"] };
}

/** Returns the folder of the repository of a folder, or the folder itself. */
function repositoryOf(folder: string): string {
  for (let current = folder; ; current = dirname(current)) {
    if (existsSync(`${current}/.git`)) return current;
    if (dirname(current) === current) return folder;
  }
}

export const claudeDesktop: HostRules = {
  ...mcpServers({ reference: noReference, type: "never", more: [] }),
  id: "claude-desktop",
  title: "Claude Desktop",
  documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
  transports: ["stdio"],
  references: { env: "none", input: false, example: undefined },
  syntax: "none",
  // There is no application for other systems.
  locations: filesWith("mcpServers", (place) =>
    place.platform === "darwin" || place.platform === "win32"
      ? join(place, settingsFolder(place), "Claude", "claude_desktop_config.json")
      : undefined,
  ),
};
