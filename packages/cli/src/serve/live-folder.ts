import { type Audit, type Prompt, type Server, type Store, type Tool, createServer, rateLimit } from "mcparley/server";
import { type Skills, skills } from "mcparley/skills";
import { liveRegistry } from "./live-registry.ts";
import { type FolderContents, type LoaderOptions, folderLoader } from "./load-folder.ts";
import type { Problem } from "./problem.ts";

export interface LiveOptions extends LoaderOptions {
  /** Whether the folder will be read again: then each kind of thing is offered even while there is none. */
  watch?: boolean;
  audit?: Audit;
  /** The store of the server. */
  store?: Store;
  /** Told of what went wrong in a handler, and of what was called. */
  onError?: (error: unknown, what: string) => void;
}

/** A folder being served. */
export interface LiveFolder {
  readonly server: Server<any, any, any>;
  /** Absolute, with every link followed. */
  readonly folder: string;
  /** What the folder held when it was read last. */
  readonly contents: FolderContents;
  /** What was wrong with it then. */
  readonly problems: readonly Problem[];
  /** Reads the folder again and changes the server to match; clients hear of what changed. */
  reload(changed?: readonly string[]): Promise<void>;
}

/** Reads a folder and makes a server of it. Rejects where there is no such folder; what is wrong in it is a problem. */
export async function openFolder(path: string, options: LiveOptions = {}): Promise<LiveFolder> {
  const loader = await folderLoader(path, options);
  let contents = await loader.load();
  const offered = skills();
  const server = makeServer(contents, offered, options);
  const apply = follow(server, offered);
  let problems = [...contents.problems, ...apply(contents)];
  return {
    server,
    folder: loader.folder,
    get contents() {
      return contents;
    },
    get problems() {
      return problems;
    },
    async reload(changed) {
      contents = await loader.load(changed);
      problems = [...contents.problems, ...apply(contents)];
    },
  };
}

function makeServer(
  contents: FolderContents,
  offered: Skills,
  { watch, audit, store, onError }: LiveOptions,
): Server<any, any, any> {
  const {
    name,
    version,
    title,
    description,
    websiteUrl,
    icons,
    instructions,
    limits,
    rateLimit: limit,
  } = contents.settings;
  const offers = (kind: "tools" | "prompts" | "resources" | "skills"): boolean =>
    watch === true || contents[kind].length > 0;
  const server: Server<any, any, any> = createServer({
    name,
    version,
    limits,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons && { icons }),
    ...(instructions !== undefined && { instructions }),
    ...(offers("tools") && { tools: {} }),
    ...(offers("prompts") && { prompts: {} }),
    ...(offers("resources") && { resources: {} }),
    ...(offers("skills") && { extensions: [offered] }),
    ...(audit && { audit }),
    ...(store && { store }),
    onError: (error, call) => onError?.(error, describeCall(call)),
  });
  return limit ? server.use(rateLimit(limit)) : server;
}

/** Makes what brings a server to what the folder holds. */
function follow(server: Server<any, any, any>, offered: Skills): (contents: FolderContents) => Problem[] {
  const tools = liveRegistry<Tool>({
    registry: server.tools,
    follow: (tool, current) => ({ ...tool, call: (input, ctx) => current().call(input, ctx) }),
  });
  const prompts = liveRegistry<Prompt>({
    registry: server.prompts,
    follow: (prompt, current) => ({ ...prompt, get: (args, ctx) => current().get(args, ctx) }),
  });
  const resources = liveRegistry({
    registry: server.resources,
    onChanged: ({ uri }) => server.resources.updated(uri),
  });
  const skillFiles = liveRegistry({ registry: offered });
  return (contents) => [
    ...tools(contents.tools),
    ...prompts(contents.prompts),
    ...resources(contents.resources),
    ...skillFiles(contents.skills),
  ];
}

/** What was called, as a log says it: `tools/call search_documents`. */
function describeCall(call: unknown): string {
  const { method, params } = (call ?? {}) as { method?: string; params?: { name?: unknown; uri?: unknown } };
  const named = params?.name ?? params?.uri;
  return (
    [method, typeof named === "string" ? named.slice(0, 200) : undefined].filter(Boolean).join(" ") || "the server"
  );
}
