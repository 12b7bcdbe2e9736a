import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { toFetch } from "mcparley/http";
import { createServer, tool } from "mcparley/server";
import { type ScriptedIssuer, scriptedIssuer } from "../support/scripted-issuer.ts";

/** An MCP server with the tool `add`, and its issuer at the same origin, which authenticates clients as the Python SDK does. */
export interface StrictIssuer {
  /** The URL of the MCP server. */
  readonly url: string;
  readonly world: ScriptedIssuer;
  /** Answers every request of a client with `invalid_client`. */
  refuseClients(this: void): void;
  close(this: void): Promise<void>;
}

/** Starts both on loopback. `methods` are the announced methods of client authentication. */
export async function startStrictIssuer(methods: readonly string[]): Promise<StrictIssuer> {
  const add = tool({
    input: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } },
    call: ({ a = 0, b = 0 }: { a?: number; b?: number }) => String(a + b),
  });
  const { fetch: serve } = toFetch(createServer({ name: "strict", version: "1.0.0", tools: { add } }), {
    path: "/mcp",
  });
  const http = createHttpServer();
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  const world = scriptedIssuer({ server: url, issuer: origin, serve });
  world.isStrict = true;
  world.metadata.token_endpoint_auth_methods_supported = [...methods];
  http.on("request", (request, response) => {
    void (async () => {
      const { method = "GET", headers } = request;
      const body = method === "GET" ? {} : { body: await buffer(request) };
      const asked = new Request(`${origin}${request.url}`, { method, headers: headers as HeadersInit, ...body });
      const answer = await world.fetch(asked);
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    })();
  });
  return {
    url,
    world,
    refuseClients() {
      const refusal = { error: "invalid_client", error_description: "Clients are closed" };
      world.answerToken = () => Response.json(refusal, { status: 401 });
    },
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

/** Visits an authorization URL as a browser does. Returns the redirect URI with its parameters. */
export async function visit(url: string | URL): Promise<URL> {
  const { headers } = await fetch(url, { redirect: "manual" });
  return new URL(headers.get("location") ?? "");
}
