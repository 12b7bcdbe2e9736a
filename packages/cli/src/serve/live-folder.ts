import {
  LocalError,
  type Prompt,
  type Server,
  type ServerObserver,
  type Store,
  type Tool,
  createServer,
  rateLimit,
} from "mcparley/server";
import { type Skills, skills } from "mcparley/skills";
import { changeVersions } from "./change-versions.ts";
import { type FolderContents, type LoaderOptions, folderLoader } from "./load-folder.ts";
import type { Loaded, Problem } from "./yaml/problem.ts";

export interface LiveOptions extends LoaderOptions {
  /**
   * Whether the folder is read again when it changes. If so, the server declares every capability, even without
   * entries.
   */
  watch?: boolean;
  observers?: readonly ServerObserver[];
  /** The server's store. */
  store?: Store;
  /** Called with an error in a handler and a description of the call. */
  onError?: (error: unknown, what: string) => void;
}

/** A served folder. */
export interface LiveFolder {
  readonly server: Server<any, any, any, any>;
  /** Absolute path with every link followed. */
  readonly folder: string;
  /** The contents of the folder at the last reading. */
  readonly contents: FolderContents;
  /** The problems of the folder at the last reading. */
  readonly problems: readonly Problem[];
  /** Reads the folder again and updates the server. Clients are notified of the changes. */
  reload(changedFiles?: readonly string[]): Promise<void>;
}

/**
 * Reads a folder and creates a server for it. Rejects if the folder does not exist. An invalid file is a problem, not
 * an error.
 */
export async function openFolder(path: string, options: LiveOptions = {}): Promise<LiveFolder> {
  const loader = await folderLoader(path, options);
  let contents = await loader.load();
  const offeredSkills = skills();
  const server = makeServer(() => contents, offeredSkills, options);
  const follows = follow(server, offeredSkills);
  const apply = (next: FolderContents): Problem[] => {
    const refusedProblems = follows(next);
    // Definitions that the server has refused are left out.
    contents = {
      ...next,
      tools: next.tools.filter(({ name }) => server.tools.has(name)),
      prompts: next.prompts.filter(({ name }) => server.prompts.has(name)),
    };
    return [...next.problems, ...refusedProblems];
  };
  let problems = apply(contents);
  return {
    server,
    folder: loader.folder,
    get contents() {
      return contents;
    },
    get problems() {
      return problems;
    },
    async reload(changedFiles) {
      problems = apply(await loader.load(changedFiles));
    },
  };
}

function makeServer(
  current: () => FolderContents,
  offeredSkills: Skills,
  { watch, observers, store, onError }: LiveOptions,
): Server<any, any, any, any> {
  const contents = current();
  const { info, limits, rateLimit: limit } = contents.settings;
  const offers = (kind: "tools" | "prompts" | "resources" | "skills"): boolean =>
    watch === true || contents[kind].length > 0;
  const server: Server<any, any, any, any> = createServer({
    ...info,
    limits,
    ...(offers("tools") && { tools: {} }),
    ...(offers("prompts") && { prompts: {} }),
    ...(offers("resources") && { resources: {} }),
    ...(offers("skills") && { extensions: [offeredSkills] }),
    ...(observers && { observers }),
    // All processes that serve the folder with this store notice each change of it.
    ...(store && { store, changeVersion: changeVersions(current) }),
    onError: (error, call) => onError?.(error, describeCall(call)),
  });
  return limit ? server.use(rateLimit(limit)) : server;
}

/** Returns a function that updates a server to new folder contents. */
function follow(server: Server<any, any, any, any>, offeredSkills: Skills): (contents: FolderContents) => Problem[] {
  const tools = liveRegistry<Tool>({
    registry: server.tools,
    // A tool without a handler is refused by the registry.
    follow: (tool, current) =>
      typeof tool.call === "function" ? { ...tool, call: (input, ctx) => current().call(input, ctx) } : tool,
  });
  const prompts = liveRegistry<Prompt>({
    registry: server.prompts,
    follow: (prompt, current) => ({ ...prompt, get: (args, ctx) => current().get(args, ctx) }),
  });
  const resources = liveRegistry({
    registry: server.resources,
    onChanged: ({ uri }) => server.resources.updated(uri),
  });
  const skillFiles = liveRegistry({ registry: offeredSkills });
  return (contents) => [
    ...tools(contents.tools),
    ...prompts(contents.prompts),
    ...resources(contents.resources),
    ...skillFiles(contents.skills),
  ];
}

/** Describes a call for a log: `tools/call search_documents`. */
function describeCall(call: unknown): string {
  const { method, params } = (call ?? {}) as { method?: string; params?: { name?: unknown; uri?: unknown } };
  const subject = params?.name ?? params?.uri;
  return (
    [method, typeof subject === "string" ? subject.slice(0, 200) : undefined].filter(Boolean).join(" ") || "the server"
  );
}

/** The methods of a live server's registry that are used here. */
interface Settable<D> {
  set(name: string, definition: D): void;
  delete(name: string): boolean;
}

interface Held<D> {
  entry: Loaded<D>;
}

interface LiveRegistryOptions<D> {
  registry: Settable<D>;
  /**
   * Wraps the definition for the registry. The wrapper looks up the current definition on each call. New code behind an
   * unchanged list entry is then used without a list change notification.
   */
  follow?: (definition: D, current: () => D) => D;
  /** Called with the previous definition of each entry that was replaced or removed. */
  onChanged?: (previousDefinition: D) => void;
}

/**
 * Returns a function that updates one registry of a live server: it adds, replaces and removes only entries that
 * differ.
 *
 * An entry that the server rejects is not offered. It is reported as a problem of its file.
 */
export function liveRegistry<D>({
  registry,
  follow,
  onChanged,
}: LiveRegistryOptions<D>): (next: Loaded<D>[]) => Problem[] {
  const holders = new Map<string, Held<D>>();

  function take(entry: Loaded<D>): void {
    const currentHolder = holders.get(entry.name);
    if (currentHolder?.entry.shape === entry.shape) {
      currentHolder.entry = entry;
      return;
    }
    const holder: Held<D> = { entry };
    const current = (): D => holder.entry.definition;
    registry.set(entry.name, follow ? follow(entry.definition, current) : entry.definition);
    holders.set(entry.name, holder);
    if (currentHolder) onChanged?.(currentHolder.entry.definition);
  }

  function drop(name: string): void {
    const currentHolder = holders.get(name);
    if (!currentHolder) return;
    holders.delete(name);
    registry.delete(name);
    onChanged?.(currentHolder.entry.definition);
  }

  return (next) => {
    const problems: Problem[] = [];
    const names = new Set(next.map(({ name }) => name));
    for (const name of holders.keys()) if (!names.has(name)) drop(name);
    for (const entry of next) {
      try {
        take(entry);
      } catch (error) {
        if (!(error instanceof LocalError)) throw error;
        drop(entry.name);
        const cure = "Correct the file. It is read again when it is saved.";
        problems.push({ file: entry.file, line: 1, message: error.message, cure });
      }
    }
    return problems;
  };
}
