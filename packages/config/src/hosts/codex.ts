import { tomlFormat } from "../formats/toml.ts";
import type { UrlTarget } from "../model.ts";
import { type ConfigValue, type Reference, formatValue, partsOf } from "../values.ts";
import { type HostRules, filesWith, join, refuseUnreadable } from "./host.ts";
import { mcpServers } from "./mcp-servers.ts";
import { noReference } from "./write-value.ts";

const entries = mcpServers({ reference: noReference, headersMember: "http_headers", more: ["cwd"] });

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
  locations: filesWith(
    "mcp_servers",
    (place) => join(place, place.env["CODEX_HOME"] || join(place, place.home, ".codex"), "config.toml"),
    ".codex/config.toml",
  ),
  refuseName: refuseUnreadable,
  members: [...entries.members, "env_vars", "env_http_headers", "bearer_token_env_var"],
  read(entry) {
    const target = entries.read(entry);
    if (target.kind === "command") {
      const inheritedNames = entry.names("env_vars").map((name) => [name, variable(name)] as const);
      return { ...target, envFile: undefined, env: new Map([...inheritedNames, ...target.env]) };
    }
    const headers = new Map(target.headers);
    for (const [name, value] of entry.table("env_http_headers")) headers.set(name, variable(formatValue(value)));
    const token = entry.word("bearer_token_env_var");
    if (token !== undefined) headers.set("Authorization", ["Bearer ", ...variable(token)]);
    return { ...target, headers };
  },
  write(target) {
    if (target.kind === "url") return writeUrl(target);
    const { inheritedNames, otherVariables } = splitVariables(target.env);
    return {
      ...entries.write({ ...target, env: otherVariables }),
      env_vars: inheritedNames.length > 0 ? inheritedNames : undefined,
    };
  },
};

/** Returns the value of a variable of the environment. */
export function variable(name: string): Reference[] {
  return [{ kind: "env", name }];
}

/** Returns the name of the variable if a value consists of a prefix and that variable. */
function variableAfter(prefix: string, value: ConfigValue): string | undefined {
  const parts = partsOf(value).filter((part) => part !== "");
  if (prefix !== "" && parts[0] !== prefix) return undefined;
  const [reference, ...more] = prefix === "" ? parts : parts.slice(1);
  if (typeof reference !== "object" || reference.kind !== "env" || more.length > 0) return undefined;
  return reference.fallback === undefined ? reference.name : undefined;
}

/** Returns the names of the variables that have their own value, and the other variables. */
export function splitVariables(env: ReadonlyMap<string, ConfigValue>): {
  inheritedNames: string[];
  otherVariables: ReadonlyMap<string, ConfigValue>;
} {
  const inheritedNames = [...env].filter(([name, value]) => variableAfter("", value) === name).map(([name]) => name);
  return { inheritedNames, otherVariables: new Map([...env].filter(([name]) => !inheritedNames.includes(name))) };
}

function writeUrl(target: UrlTarget): Record<string, unknown> {
  const literal = new Map<string, ConfigValue>();
  const variables: [string, string][] = [];
  let token: string | undefined;
  for (const [name, value] of target.headers) {
    const bearer = name.toLowerCase() === "authorization" ? variableAfter("Bearer ", value) : undefined;
    const variableName = variableAfter("", value);
    if (bearer !== undefined) token = bearer;
    else if (variableName !== undefined) variables.push([name, variableName]);
    else literal.set(name, value);
  }
  return {
    ...entries.write({ ...target, headers: literal }),
    bearer_token_env_var: token,
    env_http_headers: variables.length > 0 ? Object.fromEntries(variables) : undefined,
  };
}
