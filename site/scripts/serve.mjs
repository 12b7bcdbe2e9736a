// @ts-check
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import path from "node:path";

/** @type {Readonly<Record<string, string>>} */
const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

/**
 * Serves a built site on loopback as a static host does: `/tools` is `tools.html`, and an unknown path is `404.html`.
 *
 * @param {string} folder
 * @param {{ port?: number; base?: string }} [options] `base` is the path of the site; port 0 means any free port
 */
export async function serveSite(folder, { port = 0, base = "/" } = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const file = pathname.startsWith(base)
      ? fileOf(folder, decodeURIComponent(pathname.slice(base.length)))
      : undefined;
    const found = file ?? path.join(folder, "404.html");
    response.writeHead(file === undefined ? 404 : 200, {
      "content-type": types[path.extname(found)] ?? "application/octet-stream",
    });
    createReadStream(found).pipe(response);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}${base}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * The file that a path names. Undefined if there is none.
 *
 * @param {string} folder
 * @param {string} relative a path without the base
 */
export function fileOf(folder, relative) {
  const full = path.join(folder, relative);
  if (full !== folder && !full.startsWith(folder + path.sep)) return undefined;
  const candidates =
    relative === "" || relative.endsWith("/") ? [path.join(full, "index.html")] : [full, `${full}.html`];
  return candidates.find((file) => existsSync(file) && statSync(file).isFile());
}
