import { tomlFormat } from "../formats/toml.ts";
import type { ServerTarget, UrlTarget } from "../model.ts";
import { type ConfigValue, type Reference, formatValue, partsOf } from "../values.ts";
import { InvalidEntry } from "./entry-reader.ts";
import { type HostRules, UnsupportedTarget, join, refuseUnreadable } from "./host.ts";
import { requireHttp } from "./mcp-servers.ts";
import { noReference, writeTable, writeValue, writeValues } from "./write-value.ts";

/** Codex replaces nothing in texts. The members `env_vars`, `env_http_headers` and `bearer_token_env_var` name variables. */
export const codex: HostRules = {
  id: "codex",
  title: "Codex",
  documentation: "https://developers.openai.com/codex/mcp",
  transports: ["stdio", "http"],
  references: { env: "member", input: false, example: 'env_vars = ["NAME"]' },
  check: ["codex", "mcp", "list"],
  format: tomlFormat,
  syntax: "none",
  locations: (place) => [
    {
      scope: "user",
      file: join(place, place.env["CODEX_HOME"] || join(place, place.home, ".codex"), "config.toml"),
      path: ["mcp_servers"],
    },
    { scope: "project", file: join(place, place.folder, ".codex", "config.toml"), path: ["mcp_servers"] },
  ],
  refuseName: refuseUnreadable,
  members: [
    "command",
    "args",
    "env",
    "env_vars",
    "cwd",
    "url",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
  ],
  read(entry) {
    const command = entry.value("command");
    const url = entry.value("url");
    if (command !== undefined && url !== undefined) {
      throw new InvalidEntry('The entry has both "command" and "url"; keep one', ["url"]);
    }
    if (command !== undefined) {
      const inherited = entry.names("env_vars").map((name) => [name, variable(name)] as const);
      const env = new Map([...inherited, ...entry.table("env")]);
      return { kind: "command", command, args: entry.values("args"), env, cwd: entry.value("cwd") };
    }
    if (url === undefined) throw new InvalidEntry('The entry needs a "command" to start or a "url" to connect to', []);
    requireHttp(url, "url");
    const headers = new Map(entry.table("http_headers"));
    for (const [name, value] of entry.table("env_http_headers")) headers.set(name, variable(formatValue(value)));
    const token = entry.word("bearer_token_env_var");
    if (token !== undefined) headers.set("Authorization", ["Bearer ", ...variable(token)]);
    return { kind: "url", url, transport: "http", headers };
  },
  write: (target) => (target.kind === "url" ? writeUrl(target) : writeCommand(target)),
};

/** Returns the value of a variable of the environment. */
export function variable(name: string): Reference[] {
  return [{ kind: "env", name }];
}

/** Returns the name of the variable if a value consists of a prefix and that variable. */
export function variableAfter(prefix: string, value: ConfigValue): string | undefined {
  const parts = partsOf(value).filter((part) => part !== "");
  if (prefix !== "" && parts[0] !== prefix) return undefined;
  const [reference, ...more] = prefix === "" ? parts : parts.slice(1);
  if (typeof reference !== "object" || reference.kind !== "env" || more.length > 0) return undefined;
  return reference.fallback === undefined ? reference.name : undefined;
}

function writeCommand(target: ServerTarget & { kind: "command" }): Record<string, unknown> {
  if (target.envFile !== undefined) {
    throw new UnsupportedTarget('Codex has no member for "envFile".', 'Name the variables in "env".');
  }
  const inherited = [...target.env].filter(([name, value]) => variableAfter("", value) === name).map(([name]) => name);
  const others = new Map([...target.env].filter(([name]) => !inherited.includes(name)));
  return {
    command: writeValue(target.command, noReference),
    args: target.args.length > 0 ? writeValues(target.args, noReference) : undefined,
    env_vars: inherited.length > 0 ? inherited : undefined,
    cwd: target.cwd === undefined ? undefined : writeValue(target.cwd, noReference),
    env: writeTable(others, noReference),
  };
}

function writeUrl({ url, transport, headers }: UrlTarget): Record<string, unknown> {
  if (transport === "sse") throw new UnsupportedTarget("Codex does not support SSE.", "Use Streamable HTTP.");
  const literal = new Map<string, ConfigValue>();
  const variables: [string, string][] = [];
  let token: string | undefined;
  for (const [name, value] of headers) {
    const bearer = name.toLowerCase() === "authorization" ? variableAfter("Bearer ", value) : undefined;
    const whole = variableAfter("", value);
    if (bearer !== undefined) token = bearer;
    else if (whole !== undefined) variables.push([name, whole]);
    else literal.set(name, value);
  }
  return {
    url: writeValue(url, noReference),
    bearer_token_env_var: token,
    http_headers: writeTable(literal, noReference),
    env_http_headers: variables.length > 0 ? Object.fromEntries(variables) : undefined,
  };
}
