import { createServer } from "node:http";

/** Listens on a port that the system assigns, and writes the URL. */
export function serveNode(listener) {
  const http = createServer(listener);
  http.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
}
