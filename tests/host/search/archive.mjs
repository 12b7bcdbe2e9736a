// @ts-check
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";

/**
 * The tools of a published server.
 *
 * @typedef {object} CorpusServer
 * @property {string} server
 * @property {{ name: string; title?: string; description?: string; inputSchema: import("mcparley").JsonObject }[]} tools
 */

const file = new URL("corpus/tools.json.gz", import.meta.url);

/** Reads the tools of all servers, in the order of the names of the servers. @returns {CorpusServer[]} */
export function readServers() {
  return JSON.parse(gunzipSync(readFileSync(file)).toString());
}

/** Writes the tools of a server, in place of those that the archive has of it. @param {CorpusServer} added */
export function writeServer(added) {
  const others = readServers().filter(({ server }) => server !== added.server);
  const servers = [...others, added].toSorted((a, b) => (a.server < b.server ? -1 : 1));
  writeFileSync(file, gzipSync(JSON.stringify(servers), { level: 9 }));
}
