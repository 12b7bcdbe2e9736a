import { once } from "node:events";
import { type ServerOptions, createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "mcparley/node";
import { type Server, createServer, resource, tool } from "mcparley/server";
import { type Certificate, makeCertificate } from "../support/certificates.ts";

/** The authority that signs all certificates of these tests. No program trusts it by default. */
export const authority: Certificate = makeCertificate({ name: "Corporate authority" });
export const clientCertificate: Certificate = makeCertificate({
  name: "client",
  issuer: authority,
  hosts: ["client.example"],
});

export interface SecureServer {
  readonly server: Server<any, any, any>;
  /** At `mcp.example`, which only the proxy of the tests resolves. */
  readonly url: string;
  /** At `localhost`. */
  readonly localUrl: string;
  /** Resolve when the tool `wait` was called, and when its call was cancelled. */
  readonly waiting: { called: Promise<void>; cancelled: Promise<void> };
  close(): Promise<void>;
}

/** Serves an MCP server over https. */
export async function serveSecurely(options: ServerOptions = {}): Promise<SecureServer> {
  let called!: () => void;
  let cancelled!: () => void;
  const waiting = {
    called: new Promise<void>((resolve) => (called = resolve)),
    cancelled: new Promise<void>((resolve) => (cancelled = resolve)),
  };
  const server = createServer({
    name: "corporate",
    version: "1.0.0",
    tools: {
      greet: tool({ call: () => "Good morning." }),
      wait: tool({
        call: (_, { signal }) => {
          called();
          return new Promise<string>((resolve) =>
            signal.addEventListener("abort", () => {
              cancelled();
              resolve("cancelled");
            }),
          );
        },
      }),
    },
    resources: { note: resource("note:1", { read: () => "first" }) },
  });
  const hosts = ["localhost", "mcp.example"];
  const certificate = makeCertificate({ name: "mcp", issuer: authority, hosts });
  const handler = toNodeHandler(server, { allowedHosts: hosts });
  const listener = createSecureServer({ ...certificate, ...options }, (request, response) =>
    handler(request, response),
  );
  listener.on("tlsClientError", () => {});
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  return {
    server,
    url: `https://mcp.example:${port}/mcp`,
    localUrl: `https://localhost:${port}/mcp`,
    waiting,
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
