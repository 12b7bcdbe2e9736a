import { requireNoMore } from "./arguments/arguments.ts";
import { UsageError } from "../terminal/io.ts";
import { configurationOptions } from "../targets/options.ts";
import type { Command } from "./connection/command.ts";
import { commonOptions } from "./connection/options.ts";

const { json, help } = commonOptions;
const serversOptions = { json, config: configurationOptions.config, help } as const;

/** Loads the commands that need the package of configurations. */
export const loadConfigurations = () => import("./configurations/configurations.ts");

export const serversCommand: Command<typeof serversOptions> = {
  kind: "other",
  usage: "[--config FILE]",
  namesTargets: true,
  summary: "list the servers of all hosts and of this folder",
  options: serversOptions,
  details: [
    "Reads the configurations of Claude Code, Claude Desktop, VS Code, Cursor, Windsurf, Zed, Codex, Gemini CLI, goose and " +
      "opencode, of the user, of this folder and of the folders above it. An mcp.json belongs to the host mcparley. A name " +
      "is a target for each command, unless the server is disabled. If several hosts have different servers of one name, " +
      "write HOST:NAME.",
    "Values of variables and headers are not shown. Nothing is started. Exits with 1 if a file or an entry is invalid; the " +
      "other servers are listed.",
  ],
  examples: ["mcparley servers", "mcparley servers --json", "mcparley servers --config other.toml"],
  async run({ positionals, command }, setting) {
    requireNoMore(positionals, "servers accepts no words");
    if (command) throw new UsageError("servers starts no program.", "Leave out -- and the words after it.");
    const { listServers } = await loadConfigurations();
    await listServers(setting);
  },
};
