import { type HostRules, join, refuseForScripts } from "./host.ts";
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
  locations: (place) => [
    {
      scope: "user",
      file: join(place, place.env["GEMINI_CLI_HOME"] || place.home, ".gemini", "settings.json"),
      path: ["mcpServers"],
    },
    { scope: "project", file: join(place, place.folder, ".gemini", "settings.json"), path: ["mcpServers"] },
  ],
  refuseName: refuseForScripts,
};
