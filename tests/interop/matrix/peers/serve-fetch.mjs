import { createServer } from "node:http";

/** Serves a function from `Request` to `Response` on a port that the system assigns, and writes the URL. */
export function serveFetch(handle) {
  const http = createServer((incoming, outgoing) => void exchange(incoming, outgoing));
  http.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));

  async function exchange(incoming, outgoing) {
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method,
      headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      signal: gone.signal,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const response = (await handle(request)) ?? new Response(null, { status: 404 });
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    const reader = response.body?.getReader();
    outgoing.on("close", () => void reader?.cancel().catch(() => {}));
    try {
      for (let next = await reader?.read(); next && !next.done; next = await reader.read()) outgoing.write(next.value);
    } catch {
      // The response broke off, or the client went away.
    }
    outgoing.end();
  }
}
