import { requireNoMore } from "./arguments/arguments.ts";
import { addOptions } from "./configurations/options.ts";
import type { Command } from "./connection/command.ts";
import { loadConfigurations } from "./servers.ts";

export const addCommand: Command<typeof addOptions> = {
  kind: "other",
  usage: "TARGET --to HOST",
  summary: "add a server to the configuration of a host",
  options: addOptions,
  details: [
    "TARGET is a URL, a name of another host's configuration, or a command after --. The server is connected to once. The " +
      "change is shown, and written if you agree. Then the host's own check is run, if it is installed. A server of the " +
      "same name is replaced only with --replace.",
    "npx, uvx and similar programs get the exact version that is found now. Secrets are refused: --env NAME writes a " +
      "reference to a variable, and '${env:NAME}' one within a header or an argument.",
  ],
  examples: [
    "mcparley add --to claude-code -- node /path/of/server.js",
    "mcparley add notes --to cursor --to codex",
    "mcparley add https://example.com/mcp --to vscode --scope project",
  ],
  async run(words, setting) {
    requireNoMore(words.positionals.slice(words.command ? 0 : 1), "add accepts one TARGET");
    setting.stop.limit(setting.options.timeout);
    const { addServer } = await loadConfigurations();
    await addServer(words, setting);
  },
};
