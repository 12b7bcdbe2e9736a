import { Agent, request } from "node:http";
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import type { Fetch } from "./raw-http.ts";

/**
 * Returns a `fetch` whose requests all use one connection, one after another. If several processes share a port, one of them
 * answers all requests. The connection is closed when the test has finished.
 */
export function oneConnection(): Fetch {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return async (given) => {
    const body = await given.text();
    const { url, method } = given;
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, agent, headers: Object.fromEntries(given.headers) }, (response) => {
        const headers = new Headers();
        for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
        const content = response.statusCode === 202 ? null : (Readable.toWeb(response) as ReadableStream);
        if (!content) response.resume();
        resolve(new Response(content, { status: response.statusCode ?? 0, headers }));
      });
      sent.on("error", reject).end(body);
    });
  };
}
