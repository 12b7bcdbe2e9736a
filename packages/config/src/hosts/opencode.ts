import { jsonFormat } from "../formats/json.ts";
import { InvalidEntry } from "./entry-reader.ts";
import { type ConfigLocation, type HostRules, join, refuseForScripts, xdgFolder } from "./host.ts";
import { requireHttp } from "./mcp-servers.ts";
import { type WriteReference, writeTable, writeValue, writeValues } from "./write-value.ts";

/** `{env:NAME}` and `{file:path}`. */
const reference: WriteReference = (reference) => {
  if (reference.kind === "file") return `{file:${reference.path}}`;
  return reference.kind === "env" && reference.fallback === undefined ? `{env:${reference.name}}` : undefined;
};

export const opencode: HostRules = {
  id: "opencode",
  title: "opencode",
  documentation: "https://opencode.ai/docs/mcp-servers",
  transports: ["stdio", "http"],
  references: { env: "text", input: false, example: "{env:NAME}" },
  check: ["opencode", "mcp", "list"],
  format: jsonFormat,
  syntax: "brace",
  locations(place) {
    const files = (scope: "user" | "project", folder: string): ConfigLocation[] =>
      ["opencode.jsonc", "opencode.json"].map((name) => ({ scope, file: join(place, folder, name), path: ["mcp"] }));
    return [...files("user", join(place, xdgFolder(place), "opencode")), ...files("project", place.folder)];
  },
  // The members of a project's entry replace those of the user's entry.
  disabledLists: (place) =>
    opencode
      .locations(place)
      .filter(({ scope }) => scope === "project")
      .map((location) => ({ ...location, disables: ["user"] })),
  refuseName: refuseForScripts,
  members: ["type", "command", "environment", "cwd", "url", "headers"],
  read(entry) {
    const type = entry.word("type");
    // Such an entry enables or disables a server of another file.
    if (type === undefined && !entry.has("command") && !entry.has("url")) return undefined;
    if (type === "remote" || (type === undefined && entry.has("url"))) {
      const url = entry.value("url");
      if (url === undefined) throw new InvalidEntry('The entry needs a "url"', []);
      requireHttp(url, "url");
      return { kind: "url", url, transport: "http", headers: entry.table("headers") };
    }
    if (type !== undefined && type !== "local") throw new InvalidEntry('"type" must be local or remote', ["type"]);
    const [command, ...args] = entry.values("command");
    if (command === undefined) throw new InvalidEntry('"command" must have the program and its arguments', ["command"]);
    const env = entry.table("environment");
    return { kind: "command", command, args, env, cwd: entry.value("cwd") };
  },
  write(target) {
    if (target.kind === "url") {
      return { type: "remote", url: writeValue(target.url, reference), headers: writeTable(target.headers, reference) };
    }
    return {
      type: "local",
      command: writeValues([target.command, ...target.args], reference),
      environment: writeTable(target.env, reference),
      cwd: target.cwd === undefined ? undefined : writeValue(target.cwd, reference),
    };
  },
};
