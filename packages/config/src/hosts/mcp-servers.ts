import { jsonFormat } from "../formats/json.ts";
import type { ServerTarget } from "../model.ts";
import { type EntryReader, InvalidEntry } from "./entry-reader.ts";
import { type HostRules, refuseForScripts } from "./host.ts";
import { type WriteReference, writeTable, writeValue, writeValues } from "./write-value.ts";

interface Dialect {
  readonly reference: WriteReference;
  /** The member for the URL that is written. Default: `url`. */
  readonly urlMember?: string;
  /** All members that can have the URL. Default: `urlMember`. */
  readonly urlMembers?: readonly string[];
  /** The member for the headers. Default: `headers`. */
  readonly headersMember?: string;
  /** Whether `type` is written: for all servers, for those at a URL, or not at all. Undefined if the host has no such member. */
  readonly type?: "always" | "url" | "never";
  /** Members of a program beside `command`, `args` and `env`. */
  readonly more: readonly ("cwd" | "envFile")[];
}

interface Rules extends Pick<HostRules, "format" | "refuseName" | "members" | "write"> {
  readonly read: (entry: EntryReader) => ServerTarget;
}

/** Returns the rules for entries with `command`, `args` and `env`, or `url` and `headers`, as most hosts have them. */
export function mcpServers({
  reference,
  urlMember = "url",
  urlMembers = [urlMember],
  headersMember = "headers",
  type,
  more,
}: Dialect): Rules {
  return {
    format: jsonFormat,
    refuseName: refuseForScripts,
    members: [...(type ? ["type"] : []), "command", "args", "env", ...more, ...urlMembers, headersMember],
    read(entry) {
      const [url, ...otherUrlMembers] = urlMembers.filter((member) => entry.has(member));
      const transport = type && entry.word("type");
      if (entry.has("command") && url !== undefined) {
        throw new InvalidEntry(`The entry has both "command" and "${url}"; keep one`, [url]);
      }
      if (otherUrlMembers[0] !== undefined)
        throw new InvalidEntry(`The entry has both "${url}" and "${otherUrlMembers[0]}"; keep one`, otherUrlMembers);
      const command = entry.value("command");
      if (command !== undefined) {
        const [cwd, envFile] = [entry.value("cwd"), entry.value("envFile")];
        return { kind: "command", command, args: entry.values("args"), env: entry.table("env"), cwd, envFile };
      }
      const address = url === undefined ? undefined : entry.value(url);
      if (url === undefined || address === undefined) {
        throw new InvalidEntry('The entry needs a "command" to start or a "url" to connect to', []);
      }
      requireHttp(address, url);
      const headers = entry.table(headersMember);
      return { kind: "url", url: address, transport: transport === "sse" ? "sse" : "http", headers };
    },
    write(target) {
      if (target.kind === "url") {
        return {
          ...((type === "always" || type === "url") && { type: target.transport }),
          [urlMember]: writeValue(target.url, reference),
          [headersMember]: writeTable(target.headers, reference),
        };
      }
      return {
        ...(type === "always" && { type: "stdio" }),
        command: writeValue(target.command, reference),
        args: target.args.length > 0 ? writeValues(target.args, reference) : undefined,
        env: writeTable(target.env, reference),
        ...(target.cwd !== undefined && { cwd: writeValue(target.cwd, reference) }),
        ...(target.envFile !== undefined && { envFile: writeValue(target.envFile, reference) }),
      };
    },
  };
}

/** Throws if a literal URL is not one of HTTP. The URL is not repeated, because it can have credentials. */
export function requireHttp(url: unknown, member: string): void {
  if (typeof url !== "string" || (/^https?:\/\//i.test(url) && URL.canParse(url))) return;
  throw new InvalidEntry(`"${member}" must be an http or https URL`, [member]);
}
