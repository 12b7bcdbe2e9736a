// @ts-check

/** Serves a fetch function with the HTTP server of Bun, and writes the URL. @param {(request: Request) => Promise<Response>} fetch */
export function serveOnBun(fetch) {
  const { Bun } = /** @type {any} */ (globalThis);
  const { port } = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
}
