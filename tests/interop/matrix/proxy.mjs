// @ts-check
import { appendFileSync } from "node:fs";
import { createServer, request as sendRequest } from "node:http";

/**
 * Starts a proxy between a client and a server on HTTP that records all messages in a file.
 *
 * @param {string} target the server's URL
 * @param {string} file
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function proxy(target, file) {
  const { hostname, port, pathname } = new URL(target);
  /** @param {string} line */
  const note = (line) => appendFileSync(file, `${line}\n`);
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    const number = ++count;
    // The server receives its own host name; all other headers are passed unchanged.
    const headers = { ...incoming.headers, host: `${hostname}:${port}` };
    const onward = sendRequest({ hostname, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
      note(`← ${number} ${answer.statusCode} ${answer.headers["content-type"] ?? ""}`);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.on("data", (chunk) => note(`← ${number} ${String(chunk).trim()}`));
      answer.on("error", () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    const said = Object.entries(incoming.headers).filter(([name]) => name.startsWith("mcp-") || name === "accept");
    note(`→ ${number} ${incoming.method} ${incoming.url} ${JSON.stringify(Object.fromEntries(said))}`);
    incoming.on("data", (chunk) => note(`→ ${number} ${String(chunk)}`));
    incoming.pipe(onward);
    onward.on("error", (error) => {
      note(`← ${number} no answer: ${error.message}`);
      outgoing.destroy();
    });
    outgoing.on("close", () => onward.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const own = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${own}${pathname}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
