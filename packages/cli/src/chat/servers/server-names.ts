import { basename, extname } from "node:path";
import type { Host } from "@mcparley/host";
import type { NamedTools } from "../../commands/arguments/tool-spellings.ts";
import type { Target } from "../../targets/target.ts";
import { readRunner } from "../../targets/package-runner.ts";

/** Parts of host names that say nothing about a server. */
const common: ReadonlySet<string> = new Set(["www", "api", "mcp", "com", "org", "net", "io", "dev", "app", "ai", "co"]);
/** Programs that run the file or the package after them. */
const runtimes: ReadonlySet<string> = new Set([
  "node",
  "bun",
  "deno",
  "python",
  "python3",
  "tsx",
  "ts-node",
  "uv",
  "ruby",
  "java",
]);
/** Options of these programs that are followed by code, and not by a file. */
const codeOptions: ReadonlySet<string> = new Set(["-e", "-c", "-p", "-pe", "--eval", "--print"]);
const longest = 40;

/**
 * Returns a name for a server of the command line: that of its configuration, of its host, or of its program. The name is shown to the
 * user and to the model.
 */
export function serverName(target: Target, word: string | undefined): string {
  if (target.origin) return usableName(target.origin.name);
  if (word !== undefined && target.kind === "command") return usableName(word);
  return usableName(target.kind === "url" ? nameOfUrl(target.url) : nameOfCommand([target.command, ...target.args]));
}

/** Returns a name that no other server has: with a number if necessary. */
export function uniqueName(name: string, usedNames: ReadonlySet<string>): string {
  if (!usedNames.has(name)) return name;
  for (let number = 2; ; number++) if (!usedNames.has(`${name}-${number}`)) return `${name}-${number}`;
}

function nameOfUrl(url: string): string {
  const { hostname, port } = new URL(url);
  if (/^[\d.]+$|^\[|^localhost$/.test(hostname)) return port === "" ? "local" : `local-${port}`;
  const labels = hostname.split(".");
  return labels.find((label) => !common.has(label)) ?? hostname;
}

function nameOfCommand(words: readonly string[]): string {
  const spec = readRunner(words)?.packages[0]?.spec;
  if (spec !== undefined) return packageName(spec.replace(/(?<=.)@[^@]*$/, ""));
  const program = fileName(words[0] ?? "");
  const serveIndex = words.indexOf("serve");
  // A folder that is served has the better name.
  if (serveIndex > 0 && fileName(words[serveIndex - 1] ?? "") === "mcparley")
    return fileName(words[serveIndex + 1] ?? program);
  if (!runtimes.has(program)) return program;
  const script = words.slice(1).find((word, index) => !word.startsWith("-") && !codeOptions.has(words[index] ?? ""));
  return script === undefined ? program : scriptName(script);
}

/** Names of files and folders that say nothing about a program. */
const entries: ReadonlySet<string> = new Set(["index", "main", "cli", "app"]);
const outputs: ReadonlySet<string> = new Set(["dist", "build", "src", "lib", "bin", "out", ".", ""]);

/** Returns the name of a script, or of the folder of its project if the script has a usual name. */
function scriptName(path: string): string {
  const name = fileName(path);
  if (!entries.has(name)) return name;
  const folders = path.split(/[\\/]/).slice(0, -1);
  const index = folders.findLastIndex((folder) => !outputs.has(folder) && folder !== "..");
  const folder = folders[index];
  return folder === undefined ? name : packageName(`${folders[index - 1] ?? ""}/${folder}`);
}

/** Names of packages that say nothing without the scope before them. */
const general: ReadonlySet<string> = new Set(["mcp", "server", "mcp-server", "server-mcp"]);

/** Returns the name of a package without its scope, or the scope if the name says nothing, such as `playwright` for `@playwright/mcp`. */
function packageName(name: string): string {
  const [, scope, base = name] = /^(?:(?:@(.+)|.*)\/)?([^/]*)$/.exec(name) ?? [];
  return scope !== undefined && general.has(base) ? scope : base;
}

function fileName(path: string): string {
  return basename(path, extname(path));
}

/** Returns a name in the form that a host accepts, without characters that the model's providers refuse. */
export function usableName(name: string): string {
  const text = name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-").replaceAll(/^[-_.]+|[-_.]+$/g, "");
  return Array.from(text).slice(0, longest).join("") || "server";
}

/** Returns the names of the servers and tools of a host. */
export function namedTools({ servers, catalogue }: Host): NamedTools {
  return { servers: [...servers.keys()], tools: catalogue.tools };
}
