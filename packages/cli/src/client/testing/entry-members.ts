import type { HostId } from "@mcparley/config";

/** A file format of a host, and how the test writes and selects an entry of it. */
interface EntryFile {
  /** The file, relative to the folder of the project. */
  readonly file: string;
  /** The table of servers. */
  readonly table: string;
  /** Whether the test names the file with `--config`, because the host has no file in a project. */
  readonly isNamed?: boolean;
}

export const entryFiles: Readonly<Record<HostId, EntryFile>> = {
  mcparley: { file: "mcp.json", table: "mcpServers" },
  "claude-code": { file: ".mcp.json", table: "mcpServers" },
  "claude-desktop": { file: "claude_desktop_config.json", table: "mcpServers", isNamed: true },
  vscode: { file: ".vscode/mcp.json", table: "servers" },
  cursor: { file: ".cursor/mcp.json", table: "mcpServers" },
  windsurf: { file: "mcp_config.json", table: "mcpServers", isNamed: true },
  zed: { file: ".zed/settings.json", table: "context_servers" },
  codex: { file: ".codex/config.toml", table: "mcp_servers" },
  "gemini-cli": { file: ".gemini/settings.json", table: "mcpServers" },
  goose: { file: "config.yaml", table: "extensions", isNamed: true },
  opencode: { file: "opencode.json", table: "mcp" },
};

/** A member of an entry, and a change of it after a consent. */
export interface MemberRow {
  /** The member in the entry. A member of another file or of an inner table has a description in parentheses. */
  readonly member: string;
  readonly hosts: readonly HostId[];
  /** What the member can change. */
  readonly effect: string;
  /** The label of the question with the new value. Undefined if the question has the remark that the entry has changed alone. */
  readonly label?: string;
  /** The new value in the question. */
  readonly shown?: string;
  readonly before: object;
  readonly after: object;
  /** Files beside the entry, before and after the change. */
  readonly files?: Readonly<Record<string, readonly [before: string, after: string]>>;
}

/** The hosts whose entries have `command`, `args`, `env`, `url` and `headers`. */
const common = [
  "mcparley",
  "claude-code",
  "claude-desktop",
  "vscode",
  "cursor",
  "windsurf",
  "zed",
  "gemini-cli",
] as const;
const withArgs = [...common, "codex"] as const;
const program = { command: "node", args: ["a.js"] };
const remote = { url: "https://a.example/mcp" };
const goose = { type: "stdio", cmd: "node", args: ["a.js"] };
const gooseUrl = { type: "streamable_http", uri: "https://a.example/mcp" };
const local = { type: "local", command: ["node", "a.js"] };
const opencodeUrl = { type: "remote", ...remote };

const starts = "the program that starts";
const receives = "the variables of the program, which can select code";
const address = "the server that receives everything";
const headers = "the headers of each request";
const takes = "the variables of the user that the server receives";

/** The members of all formats. */
export const memberRows: readonly MemberRow[] = [
  row("command", withArgs, starts, ["Command", "deno a.js"], program, { command: "deno" }),
  row(
    "command (a table of older versions)",
    ["zed"],
    starts,
    ["Command", "deno a.js"],
    { command: { path: "node", args: ["a.js"] } },
    { command: { path: "deno", args: ["a.js"] } },
  ),
  row("command", ["opencode"], starts, ["Command", "deno a.js"], local, { command: ["deno", "a.js"] }),
  row("cmd", ["goose"], starts, ["Command", "deno a.js"], goose, { cmd: "deno" }),
  row(
    "args",
    [...withArgs, "goose"],
    "the arguments of the program",
    ["Command", "node b.js"],
    { ...goose, command: "node" },
    { args: ["b.js"] },
  ),
  row(
    "cwd",
    ["mcparley", "vscode", "cursor", "gemini-cli", "codex"],
    "the folder in which the program starts",
    ["Folder", "sub"],
    program,
    { cwd: "sub" },
  ),
  row("cwd", ["opencode"], "the folder in which the program starts", ["Folder", "sub"], local, { cwd: "sub" }),
  row(
    "env",
    withArgs,
    receives,
    ["Variable", "NODE_OPTIONS=--import=./x.js"],
    { ...program, env: { NODE_OPTIONS: "" } },
    { env: { NODE_OPTIONS: "--import=./x.js" } },
  ),
  row("environment", ["opencode"], receives, ["Variable", "PATH=./bin"], local, { environment: { PATH: "./bin" } }),
  row("envs", ["goose"], receives, ["Variable", "PATH=./bin"], goose, { envs: { PATH: "./bin" } }),
  row("env_vars", ["codex"], takes, ["Receives", "your values of TOKEN"], program, { env_vars: ["TOKEN"] }),
  row("env_keys", ["goose"], takes, ["Receives", "your values of TOKEN"], goose, { env_keys: ["TOKEN"] }),
  row(
    "envFile",
    ["mcparley", "vscode", "cursor"],
    receives,
    ["Variables of", "b.env"],
    { ...program, envFile: "a.env" },
    { envFile: "b.env" },
    { "a.env": ["", ""], "b.env": ["", ""] },
  ),
  row(
    "envFile (its content)",
    ["mcparley", "vscode", "cursor"],
    receives,
    ["Variable", "NODE_OPTIONS=--import=./x.js"],
    { ...program, envFile: "a.env" },
    {},
    { "a.env": ["", "NODE_OPTIONS=--import=./x.js\n"] },
  ),
  row("url", [...common, "codex"], address, ["URL", "https://b.example/mcp"], remote, { url: "https://b.example/mcp" }),
  row("url", ["opencode"], address, ["URL", "https://b.example/mcp"], opencodeUrl, { url: "https://b.example/mcp" }),
  row(
    "url (a file of the folder)",
    ["opencode"],
    address,
    ["URL", "https://b.example/mcp"],
    { type: "remote", url: "{file:url.txt}" },
    {},
    { "url.txt": ["https://a.example/mcp", "https://b.example/mcp"] },
  ),
  row(
    "httpUrl",
    ["gemini-cli"],
    address,
    ["URL", "https://b.example/mcp"],
    { httpUrl: "https://a.example/mcp" },
    { httpUrl: "https://b.example/mcp" },
  ),
  row(
    "serverUrl",
    ["windsurf"],
    address,
    ["URL", "https://b.example/mcp"],
    { serverUrl: "https://a.example/mcp" },
    { serverUrl: "https://b.example/mcp" },
  ),
  row("uri", ["goose"], address, ["URL", "https://b.example/mcp"], gooseUrl, { uri: "https://b.example/mcp" }),
  row(
    "headers",
    common,
    headers,
    ["Header", "X-Tenant: b"],
    { ...remote, headers: { "X-Tenant": "a" } },
    { headers: { "X-Tenant": "b" } },
  ),
  row("headers", ["opencode"], headers, ["Header", "X-Tenant: b"], opencodeUrl, { headers: { "X-Tenant": "b" } }),
  row("headers", ["goose"], headers, ["Header", "X-Tenant: b"], gooseUrl, { headers: { "X-Tenant": "b" } }),
  row("http_headers", ["codex"], headers, ["Header", "X-Tenant: b"], remote, { http_headers: { "X-Tenant": "b" } }),
  row("env_http_headers", ["codex"], takes, ["Receives", "your values of TOKEN"], remote, {
    env_http_headers: { "X-Key": "TOKEN" },
  }),
  row("bearer_token_env_var", ["codex"], takes, ["Receives", "your values of TOKEN"], remote, {
    bearer_token_env_var: "TOKEN",
  }),
  row("type", common, "the transport", undefined, { ...remote, type: "http" }, { type: "sse" }),
  row(
    "type",
    ["opencode"],
    "whether a program starts",
    ["URL", "https://a.example/mcp"],
    { ...local, ...remote },
    { type: "remote" },
  ),
  row("type", ["goose"], "the transport", undefined, gooseUrl, { type: "sse" }),
  row("other members", withArgs, "settings of the host", undefined, program, { autoApprove: ["*"] }),
  row("other members", ["goose"], "settings of the host", undefined, goose, { timeout: 1 }),
  row("other members", ["opencode"], "settings of the host", undefined, local, { timeout: 1 }),
];

function row(
  member: string,
  hosts: readonly HostId[],
  effect: string,
  question: readonly [label: string, shown: string] | undefined,
  before: object,
  after: object,
  files: MemberRow["files"] = {},
): MemberRow {
  const [label, shown] = question ?? [];
  return {
    member,
    hosts,
    effect,
    before,
    after: { ...before, ...after },
    files,
    ...(label && { label, shown: shown! }),
  };
}
