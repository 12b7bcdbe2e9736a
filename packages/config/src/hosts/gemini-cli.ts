import { dirname } from "node:path";
import { type HostRules, filesWith, join } from "./host.ts";
import { mcpServers } from "./mcp-servers.ts";
import { shellReference } from "./write-value.ts";

export const geminiCli: HostRules = {
  // `httpUrl` is the older member for Streamable HTTP.
  ...mcpServers({ reference: shellReference, urlMembers: ["url", "httpUrl"], type: "url", more: ["cwd"] }),
  id: "gemini-cli",
  title: "Gemini CLI",
  documentation: "https://geminicli.com/docs/tools/mcp-server/",
  transports: ["stdio", "http", "sse"],
  references: { env: "text", input: false, example: "${NAME}" },
  check: ["gemini", "mcp", "list"],
  syntax: "dollar",
  locations: filesWith(
    "mcpServers",
    (place) => join(place, place.env["GEMINI_CLI_HOME"] || place.home, ".gemini", "settings.json"),
    ".gemini/settings.json",
  ),
  disabledLists(place) {
    const common = { disables: ["user", "project"], ignoresCase: true } as const;
    const lists = geminiCli.locations(place).flatMap(({ scope, file }) => [
      { ...common, scope, file, path: ["mcp", "excluded"] },
      { ...common, scope, file, path: ["mcp", "allowed"], isAllowList: true },
    ]);
    const [{ file } = { file: "" }] = lists;
    // `gemini mcp disable` writes this file beside the user's settings.
    return [
      ...lists,
      { ...common, scope: "user", file: join(place, dirname(file), "mcp-server-enablement.json"), path: [] },
    ];
  },
};
