import { yamlFormat } from "../formats/yaml.ts";
import { referencesOf } from "../values.ts";
import { splitVariables, variable } from "./codex.ts";
import { InvalidEntry } from "./entry-reader.ts";
import { type HostRules, filesWith, join, refuseUnreadable, settingsFolder, xdgFolder } from "./host.ts";
import { requireHttp } from "./mcp-servers.ts";
import { noReference, shellReference, writeTable, writeValue, writeValues } from "./write-value.ts";

/** Extensions that are no MCP servers of the user. */
const builtIn: readonly string[] = ["builtin", "platform", "frontend", "inline_python"];

/**
 * goose reads the variables that `env_keys` names from its secret store or the environment, and replaces them in headers.
 */
export const goose: HostRules = {
  id: "goose",
  title: "goose",
  documentation: "https://block.github.io/goose/docs/guides/config-files",
  transports: ["stdio", "http"],
  references: { env: "member", input: false, example: "env_keys: [NAME]" },
  format: yamlFormat,
  syntax: "none",
  // The parser for YAML needs about ten seconds for 1 MiB of hostile text.
  limit: 256 * 1024,
  // On macOS, goose uses the folder of Linux.
  locations: filesWith("extensions", (place) =>
    place.platform === "win32"
      ? join(place, settingsFolder(place), "Block", "goose", "config", "config.yaml")
      : join(place, xdgFolder(place), "goose", "config.yaml"),
  ),
  refuseName(name) {
    const key = name.replaceAll(/\s/g, "").toLowerCase();
    return refuseUnreadable(name) ?? (key === name ? undefined : "goose accepts neither capital letters nor spaces");
  },
  members: ["type", "cmd", "args", "envs", "env_keys", "uri", "headers"],
  read(entry) {
    const type = entry.word("type");
    if (type !== undefined && builtIn.includes(type)) return undefined;
    const inheritedNames = entry.names("env_keys").map((name) => [name, variable(name)] as const);
    if (type === "stdio") {
      const command = entry.value("cmd");
      if (command === undefined) throw new InvalidEntry('The entry needs a "cmd"', []);
      const env = new Map([...inheritedNames, ...entry.table("envs")]);
      return { kind: "command", command, args: entry.values("args"), env };
    }
    if (type !== "streamable_http" && type !== "sse") {
      throw new InvalidEntry('"type" must be stdio or streamable_http', ["type"]);
    }
    const url = entry.value("uri");
    if (url === undefined) throw new InvalidEntry('The entry needs a "uri"', []);
    requireHttp(url, "uri");
    const headers = entry.table("headers", "dollar");
    return { kind: "url", url, transport: type === "sse" ? "sse" : "http", headers };
  },
  write(target) {
    if (target.kind === "url") {
      const references = [...target.headers.values()].flatMap(referencesOf);
      const names = references.flatMap((reference) => (reference.kind === "env" ? [reference.name] : []));
      return {
        type: "streamable_http",
        uri: writeValue(target.url, noReference),
        headers:
          writeTable(target.headers, (reference) =>
            reference.kind === "env" && reference.fallback === undefined ? shellReference(reference) : undefined,
          ) ?? {},
        envs: {},
        env_keys: [...new Set(names)],
      };
    }
    const { inheritedNames, otherVariables } = splitVariables(target.env);
    return {
      type: "stdio",
      cmd: writeValue(target.command, noReference),
      args: writeValues(target.args, noReference),
      envs: writeTable(otherVariables, noReference) ?? {},
      env_keys: inheritedNames,
    };
  },
  defaults: (name) => ({ enabled: true, name, description: "", timeout: 300, bundled: null, available_tools: [] }),
};
