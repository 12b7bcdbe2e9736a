import { isObject } from "../rpc/messages.ts";
import { defaultLimits } from "./options.ts";

const described = "title description icons scopes meta=_meta";

/** A kind of object in a definition. */
type MemberKind =
  | "tool"
  | "prompt"
  | "argument"
  | "resource"
  | "server"
  | "capabilities"
  | "limits"
  | "cache"
  | "icon"
  | "hints"
  | "annotations"
  | "skill";

/** The members of each kind of object, each with its names in other libraries. `_` is a space in the error. */
const members: Record<MemberKind, string> = {
  tool: `${described} input=inputSchema,parameters,params,args,argsSchema,schema output=outputSchema annotations=readOnlyHint,destructiveHint extensions call=handler,execute,callback,cb,run,func`,
  prompt: `${described} arguments=argsSchema,args,parameters get=load,handler,execute,callback,cb`,
  argument: "title description required complete schema=type",
  resource: `${described} uri=uriTemplate mimeType size annotations cache list complete read=load,handler,execute,callback,cb`,
  server:
    "name version name_and_version=serverInfo,info title description websiteUrl icons instructions tools=tool prompts=prompt resources=resource,resourceTemplates extensions capabilities experimental revisions pingInterval context listCache limits onError onWarning observers onRootsChanged onNotification store changeVersion stateKeys clock",
  capabilities: "listChanged subscribe logging",
  limits: /* @__PURE__ */ Object.keys(defaultLimits).join(" "),
  cache: "ttlMs cacheScope",
  icon: "src mimeType sizes theme",
  hints: "title readOnlyHint destructiveHint idempotentHint openWorldHint",
  annotations: "audience priority lastModified",
  skill: "scopes",
};

/** The members that are texts in each kind of object. */
const texts = "title description instructions websiteUrl mimeType".split(" ");

/**
 * Throws a TypeError if a value is no object, if a member such as `title` is no text, or if the library would ignore a member.
 * The message names the member to use. `where` is the path of the value. Default: the whole definition, which can contain
 * its name.
 */
export function checkMembers(kind: MemberKind, value: unknown, where?: string): void {
  if (!isObject(value)) throw new TypeError(`"${where}" must be an object`);
  const known = members[kind].split(" ").map((entry) => entry.split("="));
  const names = known.map(([name = ""]) => name);
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (texts.includes(name) && member !== undefined && typeof member !== "string") {
      const type = member === null ? "null" : typeof member;
      throw new TypeError(`"${where ? `${where}.` : ""}${name}" must be a text, not ${type}`);
    }
    if (names.includes(name) || (!where && name === "name")) continue;
    const [used] = known.find(([, others]) => others?.split(",").includes(name)) ?? [];
    if (used) throw new TypeError(`use "${used.replaceAll("_", " ")}" instead of "${name}"`);
    const near = nearest(name, names);
    const cure = near ? `did you mean "${near}"?` : `its members are ${names.join(", ")}`;
    throw new TypeError(`${where ? `"${where}"` : "it"} has the unknown member "${name.slice(0, 80)}"; ${cure}`);
  }
}

/** Returns the name that differs from `name` in the fewest letters. Undefined if each differs in more than a third, or in two. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const max = Math.max(2, Math.ceil(name.length / 3));
  const near = names.map((candidate) => ({ candidate, letters: distance(name.slice(0, 40), candidate) }));
  return near.filter(({ letters }) => letters <= max).toSorted((a, b) => a.letters - b.letters)[0]?.candidate;
}

/** Returns the number of letters to insert, delete or replace (Levenshtein), without regard to their case. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const letter of from.toLowerCase()) {
    const above = row;
    row = [above[0]! + 1];
    for (let index = 0; index < to.length; index++) {
      const replaced = above[index]! + (letter === to[index]!.toLowerCase() ? 0 : 1);
      row.push(Math.min(replaced, above[index + 1]! + 1, row[index]! + 1));
    }
  }
  return row.at(-1)!;
}
