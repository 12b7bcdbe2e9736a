import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { connect } from "mcparley/client";
import { toNodeHandler } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { afterEach, describe, expect, test } from "vitest";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("redirects of a hostile server", () => {
  const secret = "secret-4711";

  interface Recorded {
    url: string;
    port: number;
    requests: { method: string | undefined; headers: string; body: string }[];
  }

  /** An HTTP server that records the requests that it receives. */
  async function record(answer: (path: string) => [status: number, location?: string]): Promise<Recorded> {
    const requests: Recorded["requests"] = [];
    const http = createHttpServer((request, response) => {
      void text(request).then((body) => {
        requests.push({ method: request.method, headers: JSON.stringify(request.headers), body });
        const [status, location] = answer(request.url ?? "");
        response.writeHead(status, location === undefined ? {} : { location }).end();
      });
    }).listen(0, "127.0.0.1");
    await once(http, "listening");
    closers.push(() => {
      http.closeAllConnections();
      http.close();
    });
    const { port } = http.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}/mcp`, port, requests };
  }

  test.each([301, 302, 303, 307, 308])(
    "CVE-2026-111769: a redirect with status %i sends nothing to another origin",
    async (status) => {
      const thief = await record(() => [200]);
      // The second origin differs by its name only, and leads to the same machine.
      for (const location of [thief.url, thief.url.replace("127.0.0.1", "localhost")]) {
        const hostile = await record(() => [status, location]);
        const connecting = connect({ url: hostile.url, headers: { authorization: `Bearer ${secret}` } });
        await expect(connecting).rejects.toMatchObject({ name: "LocalError" });
        expect(hostile.requests[0]?.headers).toContain(secret);
      }
      expect(thief.requests).toEqual([]);
    },
  );

  test("CVE-2026-111769: a redirect of a call sends its arguments to no other origin", async () => {
    const thief = await record(() => [200]);
    const count = tool({ input: { type: "object" }, call: () => "1" });
    const server = createServer({ name: "counting", version: "1.0.0", tools: { count } });
    const handler = toNodeHandler(server);
    let redirects = false;
    const http = createHttpServer((request, response) => {
      if (redirects) response.writeHead(307, { location: thief.url }).end();
      else handler(request, response);
    }).listen(0, "127.0.0.1");
    await once(http, "listening");
    closers.push(() => {
      http.closeAllConnections();
      http.close();
    });
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    for (const revision of ["2026-07-28", "2025-11-25"]) {
      redirects = false;
      const client = await connect({ url, headers: { "x-api-key": secret } }, { revision });
      expect(await client.callTool("count")).toBeDefined();
      redirects = true;
      const refused: unknown = await client.callTool("count", { password: secret }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ name: "LocalError", message: expect.stringContaining("not followed") as string });
      expect(String(refused)).not.toContain(secret);
      await client.close();
    }
    expect(thief.requests).toEqual([]);
  });

  test("CVE-2026-111769: a redirect within the origin never changes POST to GET", async () => {
    const server = await record((path) => (path === "/mcp" ? [302, "/elsewhere"] : [200]));
    await expect(connect(server.url)).rejects.toMatchObject({ name: "LocalError" });
    expect(server.requests.map(({ method }) => method)).not.toContain("GET");
  });
});
