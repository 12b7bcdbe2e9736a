import { requireNoMore } from "./arguments/arguments.ts";
import type { EditCommand } from "./connection/session.ts";

export const addCommand: EditCommand = {
  usage: "TARGET --to HOST",
  summary: "add a server to the configuration of a host",
  details: [
    "TARGET is a URL, a name of another host's configuration, or a command after --. The server is connected to once. The " +
      "change is shown, and written if you agree. Then the host's own check is run, if it is installed. A server of the " +
      "same name is replaced.",
    "npx, uvx and similar programs get the exact version that is found now. Secrets are refused: --env NAME writes a " +
      "reference to a variable, and '${env:NAME}' one within a header or an argument.",
  ],
  examples: [
    "mcparley add --to claude-code -- node /path/of/server.js",
    "mcparley add notes --to cursor --to codex",
    "mcparley add https://example.com/mcp --to vscode --scope project",
  ],
  async edit(words, setting) {
    requireNoMore(words.positionals.slice(words.command ? 0 : 1), "add accepts one TARGET");
    const { addServer } = await import("./configurations/edit-servers.ts");
    await addServer(words, setting);
  },
};

export const removeCommand: EditCommand = {
  usage: "NAME --from HOST",
  summary: "remove a server from the configuration of a host",
  details: [
    "The change is shown, and written if you agree. The previous file is kept as a backup, whose path is printed.",
  ],
  examples: ["mcparley remove notes --from cursor", "mcparley remove notes --from claude-code --scope local --dry-run"],
  async edit(words, setting) {
    requireNoMore(words.positionals.slice(1), "remove accepts one NAME");
    const { removeServer } = await import("./configurations/edit-servers.ts");
    await removeServer(words, setting);
  },
};
