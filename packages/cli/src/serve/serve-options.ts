import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { UsageError } from "../terminal/io.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";

export interface ServeOptions {
  folder: string;
  stdio: boolean;
  host: string;
  port: number;
  path: string;
  watch: boolean;
  allowHosts: string[];
  allowOrigins: string[];
  trustProxy: string | undefined;
  name: string | undefined;
  store: string | undefined;
  /** Number of worker processes. Undefined if this process serves the folder. */
  workers: number | undefined;
  audit: boolean;
  /** Whether the HTTP+SSE transport of 2024-11-05 is served as well. */
  legacySse: boolean;
  help: boolean;
}

const flags = {
  stdio: { type: "boolean" },
  host: { type: "string" },
  port: { type: "string", short: "p" },
  path: { type: "string" },
  watch: { type: "boolean" },
  "no-watch": { type: "boolean" },
  "allow-host": { type: "string", multiple: true },
  "allow-origin": { type: "string", multiple: true },
  "trust-proxy": { type: "string" },
  name: { type: "string" },
  store: { type: "string" },
  workers: { type: "string" },
  audit: { type: "boolean" },
  "legacy-sse": { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const defaultPort = 3333;

/** Reads the arguments after `serve`. Throws `UsageError`. */
export function readServeOptions(argv: readonly string[]): ServeOptions {
  const { values, positionals } = parse(argv);
  const [folder, ...rest] = positionals;
  const help = values.help === true;
  if (folder === undefined && !help) {
    throw new UsageError(
      "Which folder? DIR is missing.",
      "Name it: mcparley serve DIR, or mcparley serve . for this one.",
    );
  }
  if (rest.length > 0) {
    throw new UsageError(
      `One folder can be served, and ${rest.length + 1} were named.`,
      'Quote a path that contains spaces: "my folder".',
    );
  }
  const stdio = values.stdio === true;
  const unused = (
    ["host", "port", "path", "allow-host", "allow-origin", "trust-proxy", "store", "workers", "legacy-sse"] as const
  ).find((name) => stdio && values[name]);
  if (unused) throw new UsageError(`--${unused} does not apply with --stdio.`, "Remove one of the two.");
  if (values.watch && values["no-watch"])
    throw new UsageError("--watch and --no-watch exclude each other.", "Remove one of the two.");
  return {
    folder: folder ?? ".",
    stdio,
    host: filled("host", values.host) ?? "127.0.0.1",
    port: readPort(values.port),
    path: readPath(values.path),
    watch: values.watch ?? (values["no-watch"] ? false : !stdio),
    allowHosts: values["allow-host"] ?? [],
    allowOrigins: values["allow-origin"] ?? [],
    trustProxy: filled("trust-proxy", values["trust-proxy"]),
    name: filled("name", values.name),
    store: filled("store", values.store),
    workers: readWorkers(values.workers),
    audit: values.audit === true,
    legacySse: values["legacy-sse"] === true,
    help,
  };
}

type Parsed = ReturnType<
  typeof parseArgs<{ options: typeof flags; allowPositionals: true; strict: true; args: string[] }>
>;

function parse(argv: readonly string[]): Parsed {
  try {
    return parseArgs({ args: [...argv], options: flags, allowPositionals: true, strict: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const unknown = /^Unknown option '-{1,2}([^']*)'/.exec(message)?.[1];
    if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" && unknown !== undefined) {
      throw new UsageError(
        `There is no option --${unknown}.`,
        didYouMean(
          `--${unknown}`,
          Object.keys(flags).map((name) => `--${name}`),
        ),
      );
    }
    throw new UsageError(message.split("\n")[0]!, "mcparley serve --help lists the options.");
  }
}

function filled(name: string, value: string | undefined): string | undefined {
  if (value?.trim() === "") throw new UsageError(`--${name} is empty.`, "Give it a value, or remove it.");
  return value;
}

function readPort(value: string | undefined): number {
  if (value === undefined) return defaultPort;
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port <= 65_535) return port;
  throw new UsageError(`"${value}" is not a port.`, "Give a number from 1 to 65535, or 0 for any free port.");
}

/** Number of workers for each core. More would only take memory. */
const workersPerCore = 4;

function readWorkers(value: string | undefined): number | undefined {
  const cores = availableParallelism();
  if (value === undefined) return undefined;
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

function readPath(value: string | undefined): string {
  if (value === undefined) return "/mcp";
  if (/^\/[\w./~-]*$/.test(value)) return value;
  throw new UsageError(`"${value}" is not a path for the endpoint.`, "Start it with a slash, as in /mcp.");
}

/** The output of `mcparley serve --help`, at most 80 columns wide. */
export const serveHelp: string = `mcparley serve DIR [options]

Serve a folder to MCP clients: over HTTP, or with --stdio to the client that
starts this command.

Contents of the folder
  prompts/**/*.md       Markdown with YAML front matter; the name is the path
  resources/**          files of any kind, each with a URI
  skills/**/SKILL.md    skills: instructions, and the files beside them
  tools/**/*.ts .js     modules that export tool({ ... }); no build step
  tools/**/*.yaml       command-line programs as tools
  server.yaml           name, version, instructions, limits, roots, auth
  resources.yaml        titles and descriptions of the files in resources/

Options
      --stdio              speak the protocol on stdin and stdout
      --host HOST          listen on this address (127.0.0.1)
  -p, --port PORT          listen on this port (3333); 0 for any free port
      --path PATH          the path of the endpoint (/mcp)
      --watch, --no-watch  read the folder again when it changes, and notify
                           clients (on over HTTP, off with --stdio)
      --allow-host NAME    also answer requests for this host name; repeatable
      --allow-origin URL   also answer web pages of this origin; repeatable
      --trust-proxy HEADER read the client's address from this header, which a
                           proxy in front sets, such as x-forwarded-for
      --name NAME          the server's name, in place of the one in server.yaml
      --store URL          keep sessions and rate limits in Redis or Valkey, for
                           several processes behind one address, which all have
                           the same name: redis://HOST:PORT (needs the
                           packages @mcparley/redis and redis); or
                           MCPARLEY_STORE in the environment
      --workers N|auto     serve in N processes, which share the port, sessions
                           and tasks, so that N cores are used; auto is the
                           number of cores
      --legacy-sse         also serve HTTP+SSE of 2024-11-05, at /sse
      --audit              write one JSON line for each call to stderr
  -h, --help               show this

Examples
  mcparley serve .
  mcparley serve handbook --port 0
  mcparley serve handbook --stdio
  mcparley serve handbook --workers auto
  mcparley serve handbook --host 0.0.0.0 --allow-host handbook.example.com

Exit codes
  0    ended by Ctrl-C, or because the client disconnected
  1    the command line is wrong, there is no such folder, the port is taken,
       or a worker process ends again and again
  70   mcparley itself failed: please report it
`;
