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
  readonly shownValue?: string;
  readonly firstEntry: object;
  readonly changedEntry: object;
  /** Files beside the entry, before and after the change. */
  readonly files?: Readonly<Record<string, readonly [firstText: string, changedText: string]>>;
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

type RowParts = readonly [
  member: string,
  hosts: readonly HostId[],
  effect: string,
  question: readonly [label: string, shownValue: string] | undefined,
  firstEntry: object,
  change: object,
  files?: MemberRow["files"],
];

const rows: readonly RowParts[] = [
  ["command", withArgs, starts, ["Command", "deno a.js"], program, { command: "deno" }],
  [
    "command (a table of older versions)",
    ["zed"],
    starts,
    ["Command", "deno a.js"],
    { command: { path: "node", args: ["a.js"] } },
    { command: { path: "deno", args: ["a.js"] } },
  ],
  ["command", ["opencode"], starts, ["Command", "deno a.js"], local, { command: ["deno", "a.js"] }],
  ["cmd", ["goose"], starts, ["Command", "deno a.js"], goose, { cmd: "deno" }],
  [
    "args",
    [...withArgs, "goose"],
    "the arguments of the program",
    ["Command", "node b.js"],
    { ...goose, command: "node" },
    { args: ["b.js"] },
  ],
  [
    "cwd",
    ["mcparley", "vscode", "cursor", "gemini-cli", "codex"],
    "the folder in which the program starts",
    ["Folder", "sub"],
    program,
    { cwd: "sub" },
  ],
  ["cwd", ["opencode"], "the folder in which the program starts", ["Folder", "sub"], local, { cwd: "sub" }],
  [
    "env",
    withArgs,
    receives,
    ["Variable", "NODE_OPTIONS=--import=./x.js"],
    { ...program, env: { NODE_OPTIONS: "" } },
    { env: { NODE_OPTIONS: "--import=./x.js" } },
  ],
  ["environment", ["opencode"], receives, ["Variable", "PATH=./bin"], local, { environment: { PATH: "./bin" } }],
  ["envs", ["goose"], receives, ["Variable", "PATH=./bin"], goose, { envs: { PATH: "./bin" } }],
  ["env_vars", ["codex"], takes, ["Receives", "your values of TOKEN"], program, { env_vars: ["TOKEN"] }],
  ["env_keys", ["goose"], takes, ["Receives", "your values of TOKEN"], goose, { env_keys: ["TOKEN"] }],
  [
    "envFile",
    ["mcparley", "vscode", "cursor"],
    receives,
    ["Variables of", "b.env"],
    { ...program, envFile: "a.env" },
    { envFile: "b.env" },
    { "a.env": ["", ""], "b.env": ["", ""] },
  ],
  [
    "envFile (its content)",
    ["mcparley", "vscode", "cursor"],
    receives,
    ["Variable", "NODE_OPTIONS=--import=./x.js"],
    { ...program, envFile: "a.env" },
    {},
    { "a.env": ["", "NODE_OPTIONS=--import=./x.js\n"] },
  ],
  ["url", [...common, "codex"], address, ["URL", "https://b.example/mcp"], remote, { url: "https://b.example/mcp" }],
  ["url", ["opencode"], address, ["URL", "https://b.example/mcp"], opencodeUrl, { url: "https://b.example/mcp" }],
  [
    "url (a file of the folder)",
    ["opencode"],
    address,
    ["URL", "https://b.example/mcp"],
    { type: "remote", url: "{file:url.txt}" },
    {},
    { "url.txt": ["https://a.example/mcp", "https://b.example/mcp"] },
  ],
  [
    "httpUrl",
    ["gemini-cli"],
    address,
    ["URL", "https://b.example/mcp"],
    { httpUrl: "https://a.example/mcp" },
    { httpUrl: "https://b.example/mcp" },
  ],
  [
    "serverUrl",
    ["windsurf"],
    address,
    ["URL", "https://b.example/mcp"],
    { serverUrl: "https://a.example/mcp" },
    { serverUrl: "https://b.example/mcp" },
  ],
  ["uri", ["goose"], address, ["URL", "https://b.example/mcp"], gooseUrl, { uri: "https://b.example/mcp" }],
  [
    "headers",
    common,
    headers,
    ["Header", "X-Tenant: b"],
    { ...remote, headers: { "X-Tenant": "a" } },
    { headers: { "X-Tenant": "b" } },
  ],
  ["headers", ["opencode"], headers, ["Header", "X-Tenant: b"], opencodeUrl, { headers: { "X-Tenant": "b" } }],
  ["headers", ["goose"], headers, ["Header", "X-Tenant: b"], gooseUrl, { headers: { "X-Tenant": "b" } }],
  ["http_headers", ["codex"], headers, ["Header", "X-Tenant: b"], remote, { http_headers: { "X-Tenant": "b" } }],
  [
    "env_http_headers",
    ["codex"],
    takes,
    ["Receives", "your values of TOKEN"],
    remote,
    {
      env_http_headers: { "X-Key": "TOKEN" },
    },
  ],
  [
    "bearer_token_env_var",
    ["codex"],
    takes,
    ["Receives", "your values of TOKEN"],
    remote,
    {
      bearer_token_env_var: "TOKEN",
    },
  ],
  ["type", common, "the transport", undefined, { ...remote, type: "http" }, { type: "sse" }],
  [
    "type",
    ["opencode"],
    "whether a program starts",
    ["URL", "https://a.example/mcp"],
    { ...local, ...remote },
    { type: "remote" },
  ],
  ["type", ["goose"], "the transport", undefined, gooseUrl, { type: "sse" }],
  ["revision", ["mcparley"], "the revision of the protocol", undefined, program, { revision: "2025-11-25" }],
  ["other members", withArgs, "settings of the host", undefined, program, { autoApprove: ["*"] }],
  ["other members", ["goose"], "settings of the host", undefined, goose, { timeout: 1 }],
  ["other members", ["opencode"], "settings of the host", undefined, local, { timeout: 1 }],
];

/** The members of all formats. */
export const memberRows: readonly MemberRow[] = rows.map(
  ([member, hosts, effect, question, firstEntry, change, files = {}]) => {
    const [label, shownValue] = question ?? [];
    const changedEntry = { ...firstEntry, ...change };
    return {
      member,
      hosts,
      effect,
      firstEntry,
      changedEntry,
      files,
      ...(label !== undefined && { label, shownValue: shownValue! }),
    };
  },
);
