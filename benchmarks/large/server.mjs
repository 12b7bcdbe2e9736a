// @ts-check
import { createReadStream } from "node:fs";
import { createServer, resource } from "mcparley/server";
import { job } from "../load/job.mjs";

/** The program of a server with large resources. Its job has the way, the size of the bytes, and the path of a file with them. */

const { way, size, file } = job;
const bytes = new Uint8Array(size);
for (let at = 0; at < size; at++) bytes[at] = at * 31 + (at >> 8);

/** @type {Record<string, () => unknown>} */
const sources = {
  bytes: () => bytes,
  small: () => bytes.subarray(0, 1_048_576),
  file: () => createReadStream(file),
  // The process id, after a collection.
  idle: () => {
    globalThis.gc?.();
    globalThis.gc?.();
    return String(process.pid);
  },
};

const server = createServer({
  name: "large",
  version: "1.0.0",
  resources: {
    large: resource("large://{source}/{form}", {
      read: ({ source, form }, ctx) => {
        // A message before the result turns the response into an event stream.
        if (form === "events") ctx.progress(1, 2);
        return /** @type {any} */ (sources[source]?.());
      },
    }),
  },
});

if (way === "stdio") {
  const { serveStdio } = await import("mcparley/stdio");
  await serveStdio(server);
} else {
  const { listen } = await import("mcparley/node");
  const { url } = await listen(server, { port: 0 });
  process.stdout.write(`${url}\n`);
}
