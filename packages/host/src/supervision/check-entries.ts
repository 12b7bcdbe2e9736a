import { LocalError, printableJson, ProtocolError, ErrorCode } from "mcparley";
import type {
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  Client,
  ListKind,
  PagedList,
  RequestOptions,
} from "mcparley/client";
import { isObject } from "@mcparley/internal/is-object";
import { isWithinDepth, maxLevels } from "../values/map-texts.ts";

/** The lists of a server by the names that `ServerLists` uses. */
export interface ListSet {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
}

export type ListName = keyof ListSet;

/** The valid entries of a list that was read. */
export type CheckedList = ListSet[ListName];

export const listNames: readonly ListName[] = ["tools", "prompts", "resources", "templates"];

/** The type that a member of an entry must have. A name with "?" can be omitted. */
type Shape = Readonly<Record<string, "string" | "object" | "list">>;

const commonShape: Shape = { "title?": "string", "description?": "string", "icons?": "list", "_meta?": "object" };
const shapes: Readonly<Record<ListName, Shape>> = {
  tools: {
    ...commonShape,
    name: "string",
    inputSchema: "object",
    "outputSchema?": "object",
    "annotations?": "object",
  },
  prompts: { ...commonShape, name: "string", "arguments?": "list" },
  resources: { ...commonShape, uri: "string", name: "string", "mimeType?": "string", "annotations?": "object" },
  templates: { ...commonShape, uriTemplate: "string", name: "string", "mimeType?": "string", "annotations?": "object" },
};
const keys = { tools: "name", prompts: "name", resources: "uri", templates: "uriTemplate" } as const;

/**
 * Maximum entries of one list. The lists of a model's context have at most some hundred tools, and a host with 20 servers
 * keeps all lists in memory.
 */
const maxEntries = 10_000;
/** Maximum size of one list as JSON, in bytes: 10,000 entries of 800 bytes. The library's own limit of 64 MiB is for one server. */
export const maxListBytes: number = 8 * 2 ** 20;

/**
 * Returns the valid entries of a list. Entries with a wrong type, with too many levels, and further entries with the same key are left out
 * and reported, so that the other parts of the host can rely on the types. The list can come from a server or from the cache.
 *
 * Of a list with too many entries or bytes the first ones are returned, and the limit is reported.
 */
export function checkList(list: ListName, values: readonly unknown[], report: (error: Error) => void): CheckedList {
  const entries: ListSet[ListName] = validEntries(list, values.slice(0, maxEntries), report);
  const reportCut = (count: number, limit: string): void => {
    const message = `The list of ${list} is incomplete: ${count} of its ${values.length} entries are used. The limit is ${limit}.`;
    report(new LocalError("too_large", message));
  };
  let bytes = 0;
  const cut = entries.findIndex((entry) => (bytes += Buffer.byteLength(JSON.stringify(entry)) + 1) > maxListBytes);
  if (cut >= 0) reportCut(cut, `${maxListBytes} bytes as JSON`);
  else if (values.length > maxEntries) reportCut(entries.length, `${maxEntries} entries`);
  return cut >= 0 ? entries.slice(0, cut) : entries;
}

function validEntries(list: ListName, entries: readonly unknown[], report: (error: Error) => void): ListSet[ListName] {
  const members = Object.entries(shapes[list]).map(([member, type]): Member => {
    const name = member.replace("?", "");
    return { name, type, isOptional: member !== name };
  });
  const keysSoFar = new Set<unknown>();
  const problems: string[] = [];
  const valid = entries.filter((entry) => {
    const key = isObject(entry) ? entry[keys[list]] : undefined;
    const problem = problemOf(members, entry) ?? (keysSoFar.has(key) ? "it occurs twice" : undefined);
    keysSoFar.add(key);
    if (problem) problems.push(`${printableJson(key).slice(0, 100)}: ${problem}`);
    return problem === undefined;
  });
  // One report for all of them: a list can have thousands.
  if (problems.length > 0) report(leftOut(list, problems));
  return valid as unknown as ListSet[ListName];
}

function leftOut(list: ListName, problems: readonly string[]): LocalError {
  const first = problems.slice(0, 5).join("; ");
  const note = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
  const message = `${problems.length} entries of the list of ${list} were left out. ${first}${note}.`;
  return new LocalError("invalid_message", message);
}

interface Member {
  readonly name: string;
  readonly type: Shape[string];
  readonly isOptional: boolean;
}

function problemOf(members: readonly Member[], entry: unknown): string | undefined {
  if (!isObject(entry)) return "it is not an object";
  for (const { name, type, isOptional } of members) {
    const value = entry[name];
    if (value === undefined && isOptional) continue;
    const isValid = type === "string" ? typeof value === "string" : type === "list" ? isList(value) : isObject(value);
    if (!isValid) return `its "${name}" is not ${type === "object" ? "an" : "a"} ${type}`;
  }
  return isWithinDepth(entry, maxLevels) ? undefined : `it has more than ${maxLevels} levels of objects and arrays`;
}

/** Whether a value is a list of objects: the arguments of a prompt, or icons. */
function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject);
}

/** The result of reading lists of a server: those that could be read, and the errors of the others. */
export interface ReadLists {
  readonly lists: ReadonlyMap<ListName, CheckedList>;
  readonly failures: ReadonlyMap<ListName, Error>;
}

/** The lists that a notification of a change is about. */
export const listsOf: Readonly<Record<ListKind, readonly ListName[]>> = {
  tools: ["tools"],
  prompts: ["prompts"],
  resources: ["resources", "templates"],
};

/**
 * Reads lists of a server in parallel. A list whose capability the server does not declare is empty. A list that fails does
 * not affect the others.
 */
export async function readLists(
  client: Client,
  names: readonly ListName[],
  { report, ...request }: RequestOptions & { report: (error: Error) => void },
): Promise<ReadLists> {
  const lists = new Map<ListName, CheckedList>();
  const failures = new Map<ListName, Error>();
  await Promise.all(
    names.map(async (name) => {
      try {
        const entries = client.server.capabilities[name === "templates" ? "resources" : name]
          ? await readList(client, name, request)
          : [];
        lists.set(name, checkList(name, entries, report));
      } catch (error) {
        failures.set(name, error instanceof Error ? error : new LocalError("invalid_message", String(error)));
      }
    }),
  );
  return { lists, failures };
}

async function readList(client: Client, name: ListName, options: RequestOptions): Promise<readonly unknown[]> {
  // A change was reported, or the connection is new. A cached result would be an old one.
  const request = { ...options, fresh: true };
  try {
    return await pagesOf(client, name, request).all();
  } catch (error) {
    // Many servers with resources have no templates, and do not know the method.
    const isUnknown = error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound;
    if (name === "templates" && isUnknown) return [];
    throw error;
  }
}

function pagesOf(client: Client, name: ListName, options: RequestOptions): PagedList<unknown> {
  if (name === "tools") return client.listTools(options);
  if (name === "prompts") return client.listPrompts(options);
  return name === "resources" ? client.listResources(options) : client.listResourceTemplates(options);
}
