import { InvalidEntry } from "./entry-reader.ts";
import { type HostRules, filesWith, join, refuseUnreadable, settingsFolder, xdgFolder } from "./host.ts";
import { mcpServers } from "./mcp-servers.ts";
import { editorReference, noReference } from "./write-value.ts";
import { formatValue } from "../values.ts";

export const vscode: HostRules = {
  ...mcpServers({ reference: editorReference, type: "always", more: ["cwd", "envFile"] }),
  id: "vscode",
  title: "VS Code",
  documentation: "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
  transports: ["stdio", "http", "sse"],
  references: { env: "text", input: true, example: "${env:NAME}" },
  syntax: "dollar-brace",
  locations: filesWith(
    "servers",
    (place) => join(place, settingsFolder(place), "Code", "User", "mcp.json"),
    ".vscode/mcp.json",
  ),
};

export const cursor: HostRules = {
  ...mcpServers({
    reference: (reference) => (reference.kind === "input" ? undefined : editorReference(reference)),
    type: "never",
    more: ["cwd", "envFile"],
  }),
  id: "cursor",
  title: "Cursor",
  documentation: "https://cursor.com/docs/context/mcp",
  transports: ["stdio", "http", "sse"],
  references: { env: "text", input: false, example: "${env:NAME}" },
  syntax: "dollar-brace",
  locations: filesWith("mcpServers", (place) => join(place, place.home, ".cursor", "mcp.json"), ".cursor/mcp.json"),
};

export const windsurf: HostRules = {
  ...mcpServers({
    reference(reference) {
      if (reference.kind === "file") return formatValue([reference]);
      return reference.kind === "env" ? editorReference(reference) : undefined;
    },
    urlMember: "serverUrl",
    urlMembers: ["serverUrl", "url"],
    type: "never",
    more: [],
  }),
  id: "windsurf",
  title: "Windsurf",
  documentation: "https://docs.windsurf.com/windsurf/cascade/mcp",
  transports: ["stdio", "http", "sse"],
  references: { env: "text", input: false, example: "${env:NAME}" },
  syntax: "dollar-brace-file",
  locations: filesWith("mcpServers", (place) => join(place, place.home, ".codeium", "windsurf", "mcp_config.json")),
};

const zedEntries = mcpServers({ reference: noReference, type: "never", more: [] });

export const zed: HostRules = {
  ...zedEntries,
  id: "zed",
  title: "Zed",
  documentation: "https://zed.dev/docs/ai/mcp",
  transports: ["stdio", "http"],
  references: { env: "none", input: false, example: undefined },
  syntax: "none",
  locations: filesWith(
    "context_servers",
    (place) => {
      // On macOS, Zed uses the folder of Linux.
      const isWindows = place.platform === "win32";
      const settings = isWindows ? join(place, settingsFolder(place), "Zed") : join(place, xdgFolder(place), "zed");
      return join(place, settings, "settings.json");
    },
    ".zed/settings.json",
  ),
  refuseName: refuseUnreadable,
  read(entry) {
    // Older versions have a table with the path of the program.
    const older = entry.inner("command");
    const command = older?.value("path");
    if (older && command === undefined) throw new InvalidEntry('"command" needs a "path"', ["command"]);
    if (older && command !== undefined) {
      return { kind: "command", command, args: older.values("args"), env: older.table("env") };
    }
    // An extension provides the program, and the entry has only its settings.
    if (!entry.has("command") && !entry.has("url")) return undefined;
    return zedEntries.read(entry);
  },
};
