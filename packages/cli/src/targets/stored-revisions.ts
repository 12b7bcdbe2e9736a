import { createHash } from "node:crypto";
import { join } from "node:path";
import { isObject } from "@mcparley/internal/is-object";
import type { Target } from "./target.ts";
import type { CommandIo } from "../terminal/io.ts";
import { stateFolder } from "../terminal/user-folders.ts";
import { makePrivateFolder, readPrivateFile, replaceFile } from "../terminal/private-files.ts";

type Surroundings = Pick<CommandIo, "env" | "platform">;

/** Maximum number of servers in the file. The oldest ones are dropped. */
const mostServers = 200;
const maxBytes = 1024 * 1024;

/** Returns the revision that the user chose for a server in an earlier chat. Undefined if none was, or if the file cannot be read. */
export async function storedRevision(target: Target, io: Surroundings): Promise<string | undefined> {
  return (await readRevisions(io)).get(keyOf(target));
}

/** Stores the revision that the user chose for a server. `auto` removes it. */
export async function storeRevision(target: Target, revision: string, io: Surroundings): Promise<void> {
  const revisions = await readRevisions(io);
  const key = keyOf(target);
  // The newest one is the last.
  revisions.delete(key);
  if (revision !== "auto") revisions.set(key, revision);
  await makePrivateFolder(folderOf(io));
  await replaceFile(fileOf(io), `${JSON.stringify(Object.fromEntries([...revisions].slice(-mostServers)), null, 2)}\n`);
}

async function readRevisions(io: Surroundings): Promise<Map<string, string>> {
  try {
    const value: unknown = JSON.parse((await readPrivateFile(fileOf(io), maxBytes)) ?? "{}");
    const entries = isObject(value) ? Object.entries(value) : [];
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    // A file that is not usable is replaced by the next choice.
    return new Map();
  }
}

/** Returns a hash of the address of a server, because an address can contain a secret. */
function keyOf(target: Target): string {
  const address = target.kind === "url" ? [target.url] : [target.command, ...target.args, target.cwd];
  return createHash("sha256").update(JSON.stringify(address)).digest("hex");
}

function folderOf(io: Surroundings): string {
  return join(stateFolder(io), "mcparley");
}

function fileOf(io: Surroundings): string {
  return join(folderOf(io), "server-revisions.json");
}
