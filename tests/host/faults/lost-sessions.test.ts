import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createHost } from "../../../packages/host/src/host/create-host.ts";

/** Starts a server with sessions. After `restart` it knows none, and answers `initialize` with the status if there is one. */
async function sessionSite() {
  let session = 0;
  let isKnown = false;
  let refusal: number | undefined;
  const http = createServer((request, response) => {
    void (async () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method } = (await json(request)) as { id?: number; method: string };
      const reply = (result: object, headers = {}) =>
        response
          .writeHead(200, { "content-type": "application/json", ...headers })
          .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "initialize") {
        if (refusal !== undefined) return response.writeHead(refusal).end("No valid session ID provided");
        isKnown = true;
        const serverInfo = { name: "site", version: "1.0.0" };
        return reply(
          { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
          { "mcp-session-id": `session-${++session}` },
        );
      }
      if (!isKnown || request.headers["mcp-session-id"] !== `session-${session}`) return response.writeHead(404).end();
      if (id === undefined) return response.writeHead(202).end();
      if (method === "tools/list") return reply({ tools: [{ name: "say", inputSchema: { type: "object" } }] });
      return reply(method === "tools/call" ? { content: [{ type: "text", text: "done" }] } : {});
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as { port: number }).port}/mcp`,
    restart(status?: number) {
      isKnown = false;
      refusal = status;
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}

test.each([400, 404])(
  "a server that lost its session and opens none (%i) is failed, and is used again later",
  async (status) => {
    await using site = await sessionSite();
    const policy = { trust: "configured", review: "changes", rules: [{ decision: "allow" }] } as const;
    const servers = { site: { target: site.url, revision: "2025-06-18" } };
    await using host = await createHost({ folder: false, policy, servers });
    await host.ready();
    site.restart(status);
    const isFailed = new Promise<void>((resolve) =>
      host.subscribe((event) => void (event.type === "server" && event.state === "failed" && resolve())),
    );
    expect(await host.callTool("site__say", {})).toMatchObject({ status: "failed" });
    await isFailed;
    expect(host.servers.get("site")?.error?.message).toContain(String(status));
    site.restart();
    await host.servers.get("site")?.reconnect();
    expect(await host.callTool("site__say", {})).toMatchObject({ status: "result" });
  },
);
