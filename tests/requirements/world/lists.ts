import type { JsonObject } from "../library.ts";
import type { RawPeer } from "../../support/raw-peer.ts";

/** The entries on one page of a list. */
export async function entriesOf(peer: RawPeer, method: string, params?: JsonObject): Promise<JsonObject[]> {
  const { result, error } = await peer.request(method, params);
  if (error) throw new Error(`${method} was refused: ${error.message}`);
  const [entries = []] = Object.values(result).filter((member) => Array.isArray(member)) as JsonObject[][];
  return entries;
}

/** Returns a member of each entry on one page of a list. Default: the name. */
export async function namesOf(peer: RawPeer, method: string, member = "name"): Promise<unknown[]> {
  return (await entriesOf(peer, method)).map((entry) => entry[member]);
}

/** Returns the members of an entry that are not known. */
export function unknownIn(entry: JsonObject, ...known: string[]): string[] {
  return Object.keys(entry).filter((key) => !known.includes(key));
}
