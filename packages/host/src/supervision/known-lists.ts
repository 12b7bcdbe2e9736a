import { createHash } from "node:crypto";
import { type Clock, LocalError, printableJson } from "mcparley";
import type { ServerLists } from "../catalogue/catalogue.ts";
import { type CheckedList, type ListName, type ListSet, listNames, checkList } from "./check-entries.ts";
import { type StateStorage, keyedHash } from "../state/state-storage.ts";
import type { ChangeList, PassedOptions, SupervisedEntry } from "./supervisor-setting.ts";

const empty: ListSet = { tools: [], prompts: [], resources: [], templates: [] };

/** The lists of a server over all of its connections: from the cache, from an earlier connection, or from the current one. */
export class KnownLists {
  readonly #cache: ListCache;
  readonly #clock: Clock;
  readonly #changeList: ChangeList;
  #lists: ServerLists | undefined;
  /** Settles when the last write that was started is over. Never rejects. */
  #writing: Promise<void> = Promise.resolve();

  constructor(cache: ListCache, { clock, changeList }: { clock: Clock; changeList: ChangeList }) {
    this.#cache = cache;
    this.#clock = clock;
    this.#changeList = changeList;
  }

  get current(): ServerLists | undefined {
    return this.#lists;
  }

  /** Settles when nothing is being written. */
  get lastWrite(): Promise<void> {
    return this.#writing;
  }

  /** Reads the stored lists. Never rejects. */
  async load(): Promise<void> {
    const storedLists = await this.#cache.read();
    if (storedLists) this.#replace(storedLists.lists, { listedAt: storedLists.listedAt, isCached: true });
  }

  /** Replaces the lists that were read. The others keep their values. Returns whether a definition has changed. */
  update(read: ReadonlyMap<ListName, CheckedList>): boolean {
    const hasChanged = this.#replace(read, { listedAt: this.#clock.now(), isCached: false });
    if (hasChanged) this.#store();
    return hasChanged;
  }

  /** Marks the lists as those of an earlier connection. */
  markCached(): void {
    if (this.#lists) this.#lists = { ...this.#lists, isCached: true };
  }

  #replace(
    lists: ReadonlyMap<ListName, CheckedList>,
    { listedAt, isCached }: Pick<ServerLists, "listedAt" | "isCached">,
  ): boolean {
    // Also before they are stored.
    const read = [...lists].map(([name, entries]) => [name, this.#changeList(entries)] as const);
    const oldLists = this.#lists;
    this.#lists = { ...empty, ...oldLists, ...Object.fromEntries(read), listedAt, isCached };
    return !oldLists || read.some(([name, entries]) => JSON.stringify(entries) !== JSON.stringify(oldLists[name]));
  }

  /** Stores the lists, one write after another. A write that waits stores the lists that are current when it starts. */
  #store(): void {
    this.#writing = this.#writing.then(() => (this.#lists ? this.#cache.write(this.#lists) : undefined));
  }
}

/** The version of the format. Content with another version is ignored and replaced. */
const formatVersion = 1;
/** Maximum characters of a stored catalogue. Larger ones are neither stored nor read. */
const maxCharacters = 16 * 2 ** 20;

/** The lists of a server as they were stored. */
interface StoredLists {
  readonly lists: ReadonlyMap<ListName, CheckedList>;
  /** The time at which the server sent them, in milliseconds since 1970. */
  readonly listedAt: number;
}

/** Stores the lists of one server, so that they are known before the first connection of the next process. */
export interface ListCache {
  /** Returns the stored lists. Reports unusable content, and returns undefined for it. Never rejects. */
  read(this: void): Promise<StoredLists | undefined>;
  /** Replaces the stored lists. Reports errors. Never rejects. */
  write(this: void, lists: ListSet & { readonly listedAt: number }): Promise<void>;
}

/** The server of a cache, and the options of its connection. */
export interface CachedServer {
  readonly entry: SupervisedEntry;
  readonly connectOptions?: PassedOptions;
}

/**
 * Returns the cache of a server's lists, as a client with the same capabilities reads them. Lists of a server in this process are not stored,
 * because reading them is as fast.
 */
export function listCache(server: CachedServer, storage: StateStorage, report: (error: Error) => void): ListCache {
  const { entry } = server;
  if (entry.server.kind === "in-process") {
    return { read: () => Promise.resolve(undefined), write: () => Promise.resolve() };
  }
  const reportFailure = (action: string, error: unknown): void =>
    report(
      new Error(`The stored lists of server ${printableJson(entry.name)} could not be ${action}.`, { cause: error }),
    );
  return {
    async read() {
      try {
        const text = await storage.read(await fileName(server, storage));
        return text === undefined ? undefined : decode(text, report);
      } catch (error) {
        reportFailure("read, and are ignored", error);
        return undefined;
      }
    },
    async write(lists) {
      try {
        const text = encode(lists);
        await storage.update(await fileName(server, storage), () => (text.length > maxCharacters ? undefined : text));
      } catch (error) {
        reportFailure("written", error);
      }
    },
  };
}

/**
 * Returns the name of a file that is bound to everything that selects the server: to its entry in a configuration file, or to a target with
 * the names of headers and environment variables and not their values, which may be secrets. It is also bound to the capabilities of the
 * client, because a server can list other tools for a client that cannot show forms or run a model.
 */
async function fileName({ entry, connectOptions = {} }: CachedServer, storage: StateStorage): Promise<string> {
  const { name, server, settings } = entry;
  const parts: unknown[] = [formatVersion, name, server.kind, capabilitiesOf(connectOptions)];
  if (settings.entry) {
    const hash = await keyedHash(storage);
    parts.push(hash(settings.entry.digest));
  } else if (server.kind === "http") {
    const { url, headers = {} } = server.target;
    parts.push(url.href, Object.keys(headers).toSorted());
  } else if (server.kind === "command") {
    const { command, args = [], cwd, env = {} } = server.target;
    parts.push(command, args, cwd ?? null, Object.keys(env).toSorted());
  }
  return `lists-${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)}.json`;
}

/** Returns what the options of a connection declare to the server. */
function capabilitiesOf({ elicit, elicitModes, sample, sampleTools, sampleContext, roots, revision }: PassedOptions) {
  const modes = elicit && (elicitModes ?? ["form", "url"]);
  const sampling = sample && { tools: sampleTools === true, context: sampleContext === true };
  return { elicitation: modes, sampling, hasRoots: roots !== undefined, revision };
}

function encode({ tools, prompts, resources, templates, listedAt }: ListSet & { listedAt: number }): string {
  return JSON.stringify({ version: formatVersion, listedAt, tools, prompts, resources, templates });
}

/** Reads stored lists. The content is checked like that of a server, because other programs can write the file. */
function decode(text: string, report: (error: Error) => void): StoredLists {
  if (text.length > maxCharacters) throw unusable(`it has ${text.length} characters`);
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw unusable("it is not an object");
  const content = value as Record<string, unknown>;
  if (content.version !== formatVersion) throw unusable(`its version is not ${formatVersion}`);
  const { listedAt } = content;
  if (typeof listedAt !== "number" || !Number.isFinite(listedAt)) throw unusable('its "listedAt" is not a number');
  const lists = new Map<ListName, CheckedList>();
  for (const name of listNames) {
    const entries = content[name];
    if (!Array.isArray(entries)) throw unusable(`its "${name}" is not a list`);
    lists.set(name, checkList(name, entries, report));
  }
  return { lists, listedAt };
}

function unusable(reason: string): LocalError {
  return new LocalError("unusable_storage", `The content is not a stored catalogue: ${reason}.`);
}
