import { availableParallelism } from "node:os";
import { UsageError } from "../terminal/io.ts";
import { flag, options, text, textAs, texts } from "../terminal/options.ts";
import type { CommandDeclaration } from "./connection/command.ts";
import { commonOptions } from "./connection/options.ts";

const serveOptions = {
  ...options({
    stdio: flag("speak the protocol on stdin and stdout"),
    host: text("HOST", "listen on this address (127.0.0.1)"),
    port: { ...textAs("PORT", "listen on this port (3333); 0 for any free port", readPort), short: "p" },
    path: textAs("PATH", "the path of the endpoint (/mcp)", readPath),
    watch: flag("read the folder again when it changes, and notify clients (on over HTTP, off with --stdio)"),
    noWatch: flag("read the folder once"),
    allowHost: texts("NAME", "also answer requests for this host name; repeatable"),
    allowOrigin: texts("URL", "also answer web pages of this origin; repeatable"),
    trustProxy: text(
      "HEADER",
      "read the client's address from this header, which a proxy in front sets, such as x-forwarded-for",
    ),
    name: text("NAME", "the server's name, in place of the one in server.yaml"),
    store: text(
      "URL",
      "keep sessions and rate limits in Redis or Valkey, for several processes behind one address, which all have the same " +
        "name: redis://HOST:PORT (needs the packages @mcparley/redis and redis); or MCPARLEY_STORE in the environment",
    ),
    workers: textAs(
      "N|auto",
      "serve in N processes, which share the port, sessions and tasks, so that N cores are used; auto is the number of cores",
      readWorkers,
    ),
    legacySse: flag("also serve HTTP+SSE of 2024-11-05, at /sse"),
    audit: flag("write one JSON line for each call to stderr"),
  }),
  help: commonOptions.help,
} as const;

/** The declaration of `mcparley serve`. `runServe` runs it. */
export const serveCommand: CommandDeclaration<typeof serveOptions> = {
  kind: "other",
  usage: "DIR",
  summary: "serve a folder of prompts, resources, tools",
  options: serveOptions,
  details: ["The folder is served over HTTP, or with --stdio to the client that starts this command."],
  tables: {
    "Contents of the folder": [
      ["prompts/**/*.md", "Markdown with YAML front matter; the name is the path"],
      ["resources/**", "files of any kind, each with a URI"],
      ["skills/**/SKILL.md", "skills: instructions, and the files beside them"],
      ["tools/**/*.ts .js", "modules that export tool({ ... }); no build step"],
      ["tools/**/*.yaml", "command-line programs as tools"],
      ["server.yaml", "name, version, instructions, limits, roots, auth"],
      ["resources.yaml", "titles and descriptions of the files in resources/"],
    ],
  },
  exitCodes: [
    ["0", "ended by Ctrl-C, or because the client disconnected"],
    [
      "1",
      "the command line is wrong, there is no such folder, the port is taken, or a worker process ends again and again",
    ],
    ["70", "mcparley itself failed: please report it"],
  ],
  examples: [
    "mcparley serve .",
    "mcparley serve handbook --port 0",
    "mcparley serve handbook --stdio",
    "mcparley serve handbook --workers auto",
    "mcparley serve handbook --host 0.0.0.0 --allow-host handbook.example.com",
  ],
};

function readPort(value: string): number {
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port <= 65_535) return port;
  throw new UsageError(`"${value}" is not a port.`, "Give a number from 1 to 65535, or 0 for any free port.");
}

function readPath(value: string): string {
  if (/^\/[\w./~-]*$/.test(value)) return value;
  throw new UsageError(`"${value}" is not a path for the endpoint.`, "Start it with a slash, as in /mcp.");
}

/** Number of workers for each core. More would only take memory. */
const workersPerCore = 4;

function readWorkers(value: string): number {
  const cores = availableParallelism();
  if (value === "auto") return cores;
  const most = workersPerCore * cores;
  const isNumber = /^[1-9]\d*$/.test(value);
  if (isNumber && Number(value) <= most) return Number(value);
  throw new UsageError(
    isNumber
      ? `--workers ${value} is more than ${workersPerCore} for each of the ${cores} cores of this machine.`
      : `"${value}" is not a number of workers.`,
    `Give a number from 1 to ${most}, or auto for one worker on each core.`,
  );
}
