import type { Tool } from "mcparley/server";
import { type Style, count } from "../terminal/text.ts";
import type { FolderContents } from "./load-folder.ts";

export interface BannerInput {
  url: string;
  contents: FolderContents;
  /** The number of problems in the folder's files. */
  problems: number;
  /** The watched folder as the user typed it. Undefined without a watch. */
  watching: string | undefined;
  /** The number of processes of `--workers`. Undefined without it. */
  workers?: number | undefined;
  /** The URL for clients of the HTTP+SSE transport. Undefined if it is not served. */
  legacySse?: string | undefined;
  /** The command that starts this program here, such as `npx @mcparley/cli`. */
  command: string;
}

const width = 80;

/** Returns the text that is printed when a folder is served over HTTP: its URL, its contents and client setups. */
export function banner(input: BannerInput, style: Style): string {
  const { url, contents, problems, watching, command, workers, legacySse } = input;
  const { name, version, title } = contents.settings.info;
  const titleText = title === undefined || title === name ? "" : ` (${title})`;
  const setups = clientSetups(name, url).flatMap(({ client, where, lines }) => [
    `  ${style.bold(client)}${where === undefined ? "" : `, in ${where}`}`,
    ...lines.map((line) => `    ${line}`),
  ]);
  const end =
    watching === undefined ? "Press Ctrl-C to stop." : `Watching ${watching} for changes. Press Ctrl-C to stop.`;
  const isEmpty = [contents.tools, contents.prompts, contents.resources, contents.skills].every(
    ({ length }) => length === 0,
  );
  return [
    `${style.bold(`${name} ${version}`)}${titleText} is served at`,
    "",
    `  ${style.bold(url)}`,
    ...(workers === undefined ? [] : [`  in ${count(workers, "worker process", "worker processes")}`]),
    ...(legacySse === undefined ? [] : [`  ${legacySse} (HTTP+SSE, for clients of 2024-11-05)`]),
    "",
    ...(isEmpty ? ["It offers nothing yet."] : offerLines(contents)),
    ...(problems > 0
      ? ["", style.yellow(`${count(problems, "problem")} in the folder; see the end of this output.`)]
      : []),
    "",
    ...(isEmpty ? [] : ["Add it to your client", ...setups, ""]),
    ...(isEmpty ? [] : ["Try it now, in another terminal", `  ${tryLine(contents, url, command)}`, ""]),
    style.dim(end),
    "",
  ].join("\n");
}

/** Lists the number of entries of each kind, and as many of their names as fit. */
function offerLines({ tools, prompts, resources, skills }: FolderContents): string[] {
  const files = resources.filter(({ definition }) => !definition.uri.includes("{"));
  const kinds = [
    { label: count(prompts.length, "prompt"), names: prompts.map(({ name }) => name) },
    { label: count(tools.length, "tool"), names: tools.map(({ name }) => name) },
    { label: count(files.length, "resource"), names: files.map(({ name }) => name.replace(/^resources\//, "")) },
    ...(skills.length > 0 ? [{ label: count(skills.length, "skill"), names: skills.map(({ name }) => name) }] : []),
  ];
  const labelWidth = Math.max(...kinds.map(({ label }) => label.length)) + 4;
  return kinds.flatMap(({ label, names }) =>
    fit(names, width - labelWidth).map((line, index) =>
      `${(index === 0 ? `  ${label}` : "").padEnd(labelWidth)}${line}`.trimEnd(),
    ),
  );
}

/** Names joined by commas, on at most three lines. */
function fit(names: readonly string[], columns: number): string[] {
  const lines = [""];
  for (const [index, name] of names.entries()) {
    const piece = index === names.length - 1 ? name : `${name}, `;
    const last = lines.at(-1)!;
    if (last !== "" && last.length + piece.trimEnd().length > columns) {
      if (lines.length === 3) {
        lines[2] = `${last}and ${names.length - index} more`;
        break;
      }
      lines.push(piece);
    } else lines[lines.length - 1] = last + piece;
  }
  return lines.map((line) => line.trimEnd());
}

/** The setup of a server in one client. */
interface ClientSetup {
  client: string;
  /** The configuration file for the lines. Undefined if the lines are a command. */
  where: string | undefined;
  lines: string[];
}

/** Returns the setup of a server at a URL for common clients, each in the client's own format. */
export function clientSetups(serverName: string, url: string): ClientSetup[] {
  const name = serverName.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "") || "folder";
  const [quotedName, quotedUrl] = [JSON.stringify(name), JSON.stringify(url)];
  return [
    { client: "Claude Code", where: undefined, lines: [`claude mcp add --transport http ${name} ${url}`] },
    {
      client: "VS Code",
      where: ".vscode/mcp.json",
      lines: [`{ "servers": { ${quotedName}: {`, `  "type": "http", "url": ${quotedUrl} } } }`],
    },
    {
      client: "Cursor",
      where: ".cursor/mcp.json",
      lines: [`{ "mcpServers": { ${quotedName}: {`, `  "url": ${quotedUrl} } } }`],
    },
    {
      client: "Zed",
      where: "settings.json",
      lines: [`"context_servers": { ${quotedName}: {`, `  "url": ${quotedUrl} } }`],
    },
    {
      client: "Codex",
      where: "~/.codex/config.toml",
      lines: [`[mcp_servers.${name}]`, `url = ${quotedUrl}`],
    },
    { client: "Gemini CLI", where: undefined, lines: [`gemini mcp add --transport http ${name} ${url}`] },
  ];
}

/**
 * Returns a command that tries the server.
 *
 * The command calls a read-only tool whose schema has an example for each required argument. If there is no such tool,
 * it lists the server's contents.
 */
export function tryLine({ tools }: FolderContents, url: string, command: string): string {
  for (const { name, definition } of tools) {
    const words = definition.annotations?.readOnlyHint === true ? exampleArguments(definition) : undefined;
    if (words && words.length > 0) return [command, "call", url, name, ...words].join(" ");
  }
  return [command, "list", url].join(" ");
}

function exampleArguments({ input }: Tool): string[] | undefined {
  const { properties = {}, required = [] } = jsonSchemaOf(input) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const words: string[] = [];
  for (const name of required) {
    const { type, examples } = (properties[name] ?? {}) as { type?: unknown; examples?: unknown[] };
    const example = Array.isArray(examples) ? examples[0] : undefined;
    if (type !== "string" || typeof example !== "string" || !/^[\w ,.?-]+$/.test(example)) return undefined;
    words.push(/^[\w.,-]+$/.test(example) ? `${name}=${example}` : `${name}="${example}"`);
  }
  return words;
}

/** Returns the JSON Schema of a tool's input. Empty if it is a schema of a library that cannot be converted. */
function jsonSchemaOf(input: Tool["input"]): object {
  if (!input || !("~standard" in input)) return input ?? {};
  const { jsonSchema } = input["~standard"] as { jsonSchema?: { input(options: { target: string }): object } };
  try {
    return jsonSchema?.input({ target: "draft-2020-12" }) ?? {};
  } catch {
    // The example is optional. The server reports the schema.
    return {};
  }
}

/** Returns the command that starts this program here. Uses the form of npm if npm started the process. */
export function commandName(env: Readonly<Record<string, string | undefined>>): string {
  if (env.npm_command === "exec") return "npx @mcparley/cli";
  if (env.npm_command === "start" || env.npm_lifecycle_event !== undefined) return "npm run mcparley --";
  return "mcparley";
}
