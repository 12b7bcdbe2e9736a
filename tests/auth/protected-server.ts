import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "mcparley";
import { protectedResource } from "mcparley/auth";
import type { HttpOptions } from "mcparley/http";
import { toNodeHandler } from "mcparley/node";
import { type Server, type ServerDefinition, createServer, tool } from "mcparley/server";

type Protection = Parameters<typeof protectedResource>[0];

/** A server that listens on loopback and is protected as its own URL. */
export interface ProtectedServer {
  readonly url: string;
  readonly server: Server<any, any, any>;
  readonly errors: unknown[];
  /** Sends one modern request, as the caller that the headers authenticate. */
  call(name: string, headers: Record<string, string>, more?: CallOptions): Promise<CallAnswer>;
  close(): Promise<void>;
}

interface CallOptions {
  method?: string;
  query?: string;
  args?: JsonObject;
}

export interface CallAnswer {
  status: number;
  headers: Headers;
  /** The text of the tool's result, or of the error. */
  said: string;
}

export const tools = {
  whoami: tool({ call: (_, { principal }) => JSON.stringify(principal) }),
  write: tool({ scopes: ["notes:write", "notes:sign"], call: () => "written" }),
};

interface ServeOptions {
  /** Given the URL of the server. */
  protect: (resource: string) => Protection | Promise<Protection>;
  definition?: Partial<ServerDefinition<any, any, any, any>>;
  http?: HttpOptions;
}

/** Serves `tools`, or another definition, at `/mcp` of a free port. */
export async function serveProtected({ protect, definition, http }: ServeOptions): Promise<ProtectedServer> {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const server = createServer({ name: "notes", version: "1.0.0", tools, onError, ...definition });
  const listening = createHttpServer();
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/mcp`;
  const handler = toNodeHandler(server, { path: "/mcp", auth: protectedResource(await protect(url)), ...http });
  listening.on("request", handler);
  return {
    url,
    server,
    errors,
    call: (name, headers, options) => callTool(url, name, headers, options),
    async close() {
      await handler.close();
      listening.closeAllConnections();
      listening.close();
    },
  };
}

const revision = "2026-07-28";

async function callTool(
  url: string,
  name: string,
  headers: Record<string, string>,
  { method = "POST", query = "", args = {} }: CallOptions = {},
): Promise<CallAnswer> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta } };
  const response = await fetch(`${url}${query}`, {
    method,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": name,
      ...headers,
    },
    ...(method === "POST" && { body: JSON.stringify(message) }),
  });
  const { result, error } = JSON.parse((await response.text()) || "{}") as {
    result?: { content: { text: string }[] };
    error?: { message: string };
  };
  return { status: response.status, headers: response.headers, said: result?.content[0]?.text ?? error?.message ?? "" };
}
