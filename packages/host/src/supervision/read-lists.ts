import { LocalError, ProtocolError, ErrorCode } from "mcparley";
import type { Client, ListKind, PagedList, RequestOptions } from "mcparley/client";
import { type CheckedList, type ListName, checkList } from "./check-entries.ts";

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

const kindOf: Readonly<Record<ListName, ListKind>> = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  templates: "resources",
};

/**
 * Reads lists of a server in parallel. A list whose capability the server does not declare is empty. A list that fails does
 * not affect the others.
 */
export async function readLists(
  client: Client,
  names: readonly ListName[],
  { signal, report }: { signal: AbortSignal; report: (error: Error) => void },
): Promise<ReadLists> {
  const lists = new Map<ListName, CheckedList>();
  const failures = new Map<ListName, Error>();
  await Promise.all(
    names.map(async (name) => {
      try {
        const entries = client.server.capabilities[kindOf[name]] ? await readList(client, name, { signal }) : [];
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
