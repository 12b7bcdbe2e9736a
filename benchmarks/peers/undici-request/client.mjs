import { Agent, request } from "undici";
import { eventReader, handWritten } from "../hand-written.mjs";

/** Connects a client without a library that uses `request` of undici. */
export async function connect({ url, revision }) {
  const dispatcher = new Agent();
  return handWritten(revision, async (json, headers) => {
    const {
      statusCode,
      headers: received,
      body,
    } = await request(url, { method: "POST", headers, body: json, dispatcher });
    const events = eventReader(statusCode, received["content-type"]);
    if (!events) return body.json();
    for await (const chunk of body) events.write(chunk);
    return events.end();
  });
}
