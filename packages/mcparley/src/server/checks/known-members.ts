import { type JsonObject, isObject, isStrings } from "../../rpc/messages.ts";
import { defaultLimits } from "../core/options.ts";

const commonMembers = "title:string description:string icons scopes meta:object=_meta";

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
  tool: `${commonMembers} input=inputSchema,parameters,params,args,argsSchema,schema output=outputSchema annotations=readOnlyHint,destructiveHint extensions call=handler,execute,callback,cb,run,func`,
  prompt: `${commonMembers} arguments=argsSchema,args,parameters get=load,handler,execute,callback,cb`,
  argument: "title:string description:string required:boolean complete schema=type",
  resource: `${commonMembers} uri=uriTemplate mimeType:string size:number annotations cache list:function complete:object read=load,handler,execute,callback,cb`,
  server:
    "name version name_and_version=serverInfo,info title:string description:string websiteUrl:string icons instructions:string tools=tool prompts=prompt resources=resource,resourceTemplates extensions capabilities experimental:object revisions:texts pingInterval context:function listCache limits onError:function onWarning:function observers:list onRootsChanged:function onNotification:function store changeVersion:function stateKeys:list clock:object server.use=middleware an_option_of_listen,_toFetch_or_toNodeHandler=auth,sessions,port",
  capabilities: "listChanged:boolean subscribe:boolean logging:boolean",
  limits:
    /* @__PURE__ */ Object.keys(defaultLimits).join(":count ").replace("pageSize:count", "pageSize:positive") +
    ":count",
  cache: "ttlMs cacheScope",
  icon: "src mimeType:string sizes theme:string",
  hints: "title:string readOnlyHint:boolean destructiveHint:boolean idempotentHint:boolean openWorldHint:boolean",
  annotations: "audience priority lastModified",
  skill: "scopes",
};

/** Whether a value is a whole number of at least `least`, or Infinity. */
const isWhole = (value: unknown, least: number): boolean =>
  Number(value) >= least && (value === Infinity || Number.isSafeInteger(value));

/** The types that `typeof` does not know: a check, and the words for the error. */
const types: Record<string, [check: (value: unknown) => boolean, words: string]> = {
  object: [isRecord, "an object"],
  list: [Array.isArray, "a list"],
  texts: [isStrings, "a list of texts"],
  any: [(value) => value === "any", '"any"'],
  false: [(value) => value === false, "false"],
  count: [(value) => isWhole(value, 0), "a whole number, 0 or more"],
  positive: [(value) => isWhole(value, 1), "a whole number, 1 or more"],
  time: [(value) => typeof value === "number" && value >= 0, "a number of milliseconds, 0 or more"],
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
  if (!isRecord(value)) throw new TypeError(`"${where ?? "definition"}" must be an object`);
  const allowedMembers = entries.split(" ").map((entry) => {
    const [nameAndType = "", otherNames] = entry.split("=");
    const [name = "", type] = nameAndType.split(":");
    return { name, type, otherNames };
  });
  const names = allowedMembers.map(({ name }) => name);
  for (const [name, member] of Object.entries(value)) {
    const expectedTypes = allowedMembers.find((entry) => entry.name === name)?.type?.split("|");
    const fits = (type: string): boolean => types[type]?.[0](member) ?? typeof member === type;
    if (member !== undefined && expectedTypes?.some(fits) === false) {
      const words = expectedTypes.map((type) => types[type]?.[1] ?? `a ${type}`).join(" or ");
      // A text can be a secret.
      const received = Array.isArray(member) ? "a list" : typeof member;
      const value = typeof member === "number" || member === null ? ` ${member}` : "";
      throw new TypeError(`"${where ? `${where}.` : ""}${name}" must be ${words}; got ${received}${value}`);
    }
    if (names.includes(name) || (!where && name === "name")) continue;
    const replacement = allowedMembers.find(({ otherNames }) => otherNames?.split(",").includes(name))?.name;
    if (replacement) throw new TypeError(`use "${replacement.replaceAll("_", " ")}" instead of "${name}"`);
    const near = nearest(name, names);
    const cure = near
      ? `did you mean "${near}"?`
      : `its members are ${names.filter((name) => !/[_.]/.test(name)).join(", ")}`;
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
function distance(word: string, candidate: string): number {
  let row = Array.from({ length: candidate.length + 1 }, (_, index) => index);
  for (const letter of word.toLowerCase()) {
    const previousRow = row;
    row = [previousRow[0]! + 1];
    for (let index = 0; index < candidate.length; index++) {
      const replacementCost = previousRow[index]! + (letter === candidate[index]!.toLowerCase() ? 0 : 1);
      row.push(Math.min(replacementCost, previousRow[index + 1]! + 1, row[index]! + 1));
    }
  }
  return row.at(-1)!;
}
