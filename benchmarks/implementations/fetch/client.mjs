// @ts-check
import { eventReader, handWritten } from "../../peers/hand-written.mjs";

/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */

/** Connects a client without a library that uses the global `fetch`. @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export async function connect({ url, revision }) {
  return handWritten(revision, async (json, headers) => {
    const response = await fetch(url, { method: "POST", headers, body: json });
    const events = eventReader(response.status, response.headers.get("content-type"));
    if (!events || !response.body) return response.json();
    for await (const chunk of response.body) events.write(chunk);
    return events.end();
  });
}
