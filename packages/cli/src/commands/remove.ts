import { requireNoMore } from "./arguments/arguments.ts";
import { removeOptions } from "./configurations/options.ts";
import type { Command } from "./connection/command.ts";
import { loadConfigurations } from "./servers.ts";

export const removeCommand: Command<typeof removeOptions> = {
  kind: "other",
  usage: "NAME --from HOST",
  namesTargets: true,
  summary: "remove a server from the configuration of a host",
  options: removeOptions,
  details: [
    "The change is shown, and written if you agree. The previous file is kept as a backup, whose path is printed.",
  ],
  examples: ["mcparley remove notes --from cursor", "mcparley remove notes --from claude-code --scope local --dry-run"],
  async run(words, setting) {
    requireNoMore(words.positionals.slice(1), "remove accepts one NAME");
    const { removeServer } = await loadConfigurations();
    await removeServer(words, setting);
  },
};
