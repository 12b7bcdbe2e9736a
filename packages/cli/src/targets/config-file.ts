import { statSync } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import { type FileOptions, type HostId, type ReadResult, readConfigFile, readServers } from "@mcparley/config";
import { UsageError } from "../terminal/io.ts";

/** The folders of hosts in a project. A file in one of them applies to the folder above. */
const hostFolders: ReadonlySet<string> = new Set([".vscode", ".cursor", ".zed", ".codex", ".gemini"]);

const knownForms =
  'Known are JSON files with "mcpServers", "servers", "context_servers" or "mcp", TOML files with "mcp_servers", and YAML files with "extensions".';

/** The folder and the environment whose configurations are read. */
export interface Machine {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

/**
 * Reads the servers of the file of `--config`. A file of a project or a host has the same servers as without the option. Throws
 * `UsageError` if there is no such file, or if its form is unknown.
 */
export function readGivenFile(word: string, { cwd, env, platform }: Machine): ReadResult {
  const file = resolve(cwd, word);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new UsageError(`--config ${word}: the file does not exist, or is not a file.`, "Check the path.");
  }
  const isOfFile = (item: { readonly file: string }): boolean => item.file === file;
  const folder = hostFolders.has(basename(dirname(file))) ? dirname(dirname(file)) : dirname(file);
  const project = readServers({ folder, env, ...(platform && { platform }) });
  const result = { servers: project.servers.filter(isOfFile), problems: project.problems.filter(isOfFile) };
  if (result.servers.length + result.problems.length > 0) return result;
  const results = formsOf(file, word).map((form) => readConfigFile(file, { ...form, folder }));
  const servers = results.flatMap((result) => result.servers);
  // An invalid file has the same problem in each form.
  const problems = results.find((result) => result.problems.length > 0)?.problems ?? [];
  if (servers.length === 0 && problems.length === 0) throw new UsageError(`${file} names no server.`, knownForms);
  return { servers, problems };
}

/** Returns the forms that a file can have. The forms of JSON have different names for their tables. */
function formsOf(file: string, word: string): readonly Pick<FileOptions, "host" | "path">[] {
  const extension = extname(file).toLowerCase();
  if (extension === ".toml") return [{ host: "codex" }];
  if (extension === ".yaml" || extension === ".yml") return [{ host: "goose" }];
  if (extension === ".json" || extension === ".jsonc") {
    const servers = basename(file) === "mcp.json" ? "vscode" : "mcparley";
    return [
      { host: mcpServersForm(file) },
      { host: servers, path: ["servers"] },
      { host: "zed" },
      { host: "opencode" },
    ];
  }
  throw new UsageError(`--config ${word}: the form of the file is unknown.`, knownForms);
}

/** The names of files with `mcpServers` of other hosts. */
const hostFiles: ReadonlyMap<string, HostId> = new Map([
  [".claude.json", "claude-code"],
  [".mcp.json", "claude-code"],
  ["claude_desktop_config.json", "claude-desktop"],
  ["mcp_config.json", "windsurf"],
]);

/** Returns the host that decides the form of `mcpServers`. A file that no host reads has the form of `mcp.json`. */
function mcpServersForm(file: string): HostId {
  if (basename(dirname(file)) === ".gemini") return "gemini-cli";
  return hostFiles.get(basename(file)) ?? "mcparley";
}
