import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { defaultLimits } from "../core/options.ts";

const described = "title:string description:string icons scopes meta:object=_meta";

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

/**
 * The members of each kind of object, each with its type if no other check finds a wrong one, and with its names in other
 * libraries. `_` is a space in the error.
 */
const members: Record<MemberKind, string> = {
  tool: `${described} input=inputSchema,parameters,params,args,argsSchema,schema output=outputSchema annotations=readOnlyHint,destructiveHint extensions call=handler,execute,callback,cb,run,func`,
  prompt: `${described} arguments=argsSchema,args,parameters get=load,handler,execute,callback,cb`,
  argument: "title:string description:string required:boolean complete schema=type",
  resource: `${described} uri=uriTemplate mimeType:string size:number annotations cache list:function complete:object read=load,handler,execute,callback,cb`,
  server:
    "name version name_and_version=serverInfo,info title:string description:string websiteUrl:string icons instructions:string tools=tool prompts=prompt resources=resource,resourceTemplates extensions capabilities experimental:object revisions pingInterval context:function listCache limits onError:function onWarning:function observers onRootsChanged:function onNotification:function store changeVersion:function stateKeys clock",
  capabilities: "listChanged:boolean subscribe:boolean logging:boolean",
  limits: /* @__PURE__ */ Object.keys(defaultLimits).join(" "),
  cache: "ttlMs cacheScope",
  icon: "src mimeType:string sizes theme:string",
  hints: "title:string readOnlyHint:boolean destructiveHint:boolean idempotentHint:boolean openWorldHint:boolean",
  annotations: "audience priority lastModified",
  skill: "scopes",
};

/**
 * Throws a TypeError if a value is no object, or has a member that the library would ignore or that has a wrong type. The message
 * names the member to use. `where` is the path of the value. Default: the whole definition, which can contain its name.
 */
export function checkMembers(kind: MemberKind, value: unknown, where?: string): void {
  checkNames(members[kind], value, where);
}

/** Checks the members of an object, as `checkMembers` does, with the entries of `members` in a text. */
export function checkNames(entries: string, value: unknown, where?: string): void {
  if (!isRecord(value)) throw new TypeError(`"${where}" must be an object`);
  const known = entries.split(" ").map((entry) => {
    const [typed = "", others] = entry.split("=");
    const [name = "", type] = typed.split(":");
    return { name, type, others };
  });
  const names = known.map(({ name }) => name);
  for (const [name, member] of Object.entries(value)) {
    const type = known.find((entry) => entry.name === name)?.type;
    if (type && member !== undefined && !(type === "object" ? isRecord(member) : typeof member === type)) {
      const expected = `${type === "object" ? "an" : "a"} ${type}`;
      const received = member === null ? "null" : typeof member;
      throw new TypeError(`"${where ? `${where}.` : ""}${name}" must be ${expected}; got ${received}`);
    }
    if (names.includes(name) || (!where && name === "name")) continue;
    const used = known.find(({ others }) => others?.split(",").includes(name))?.name;
    if (used) throw new TypeError(`use "${used.replaceAll("_", " ")}" instead of "${name}"`);
    const near = nearest(name, names);
    const cure = near ? `did you mean "${near}"?` : `its members are ${names.join(", ")}`;
    throw new TypeError(`${where ? `"${where}"` : "it"} has the unknown member "${name.slice(0, 80)}"; ${cure}`);
  }
}

/** Whether a value is an object whose members are properties. Those of a `Map` would be ignored. */
export function isRecord(value: unknown): value is JsonObject {
  return isObject(value) && !(Symbol.iterator in value);
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
