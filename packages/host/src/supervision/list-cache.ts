import { createHash } from "node:crypto";
import { LocalError, printableJson } from "mcparley";
import type { StateStorage } from "../state/state-storage.ts";
import { type CheckedList, type ListName, type ListSet, checkList, listNames } from "./check-entries.ts";
import { keyedHash } from "../state/user-key.ts";
import type { SupervisedEntry } from "./supervised-entry.ts";

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

/** Returns the cache of a server's lists. Lists of a server in this process are not stored, because reading them is as fast. */
export function listCache(entry: SupervisedEntry, storage: StateStorage, report: (error: Error) => void): ListCache {
  if (entry.server.kind === "in-process") {
    return { read: () => Promise.resolve(undefined), write: () => Promise.resolve() };
  }
  const failed = (action: string, error: unknown): void =>
    report(
      new Error(`The stored lists of server ${printableJson(entry.name)} could not be ${action}.`, { cause: error }),
    );
  return {
    async read() {
      try {
        const text = await storage.read(await fileName(entry, storage));
        return text === undefined ? undefined : decode(text, report);
      } catch (error) {
        failed("read, and are ignored", error);
        return undefined;
      }
    },
    async write(lists) {
      try {
        const text = encode(lists);
        await storage.update(await fileName(entry, storage), () => (text.length > maxCharacters ? undefined : text));
      } catch (error) {
        failed("written", error);
      }
    },
  };
}

/**
 * Returns the name of a file that is bound to everything that selects the server: to its entry in a configuration file, or to a target with
 * the names of headers and environment variables and not their values, which may be secrets.
 */
async function fileName({ name, server, settings }: SupervisedEntry, storage: StateStorage): Promise<string> {
  const parts: unknown[] = [formatVersion, name, server.kind];
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

function encode({ tools, prompts, resources, templates, listedAt }: ListSet & { listedAt: number }): string {
  return JSON.stringify({ version: formatVersion, listedAt, tools, prompts, resources, templates });
}

/** Reads stored lists. The content is checked like that of a server, because other programs can write the file. */
function decode(text: string, report: (error: Error) => void): StoredLists {
  if (text.length > maxCharacters) throw unusable(`it has ${text.length} characters`);
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw unusable("it is not an object");
  const stored = value as Record<string, unknown>;
  if (stored.version !== formatVersion) throw unusable(`its version is not ${formatVersion}`);
  const { listedAt } = stored;
  if (typeof listedAt !== "number" || !Number.isFinite(listedAt)) throw unusable('its "listedAt" is not a number');
  const lists = new Map<ListName, CheckedList>();
  for (const name of listNames) {
    const entries = stored[name];
    if (!Array.isArray(entries)) throw unusable(`its "${name}" is not a list`);
    lists.set(name, checkList(name, entries, report));
  }
  return { lists, listedAt };
}

function unusable(reason: string): LocalError {
  return new LocalError("unusable_storage", `The content is not a stored catalogue: ${reason}.`);
}
