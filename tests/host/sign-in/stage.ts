import { type Host, type HostEvent, type HostOptions, createHost } from "@mcparley/host";
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { jwtVerifier, protectedResource } from "mcparley/auth";
import { toNodeHandler } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { type AuthorizationServer, startAuthorizationServer } from "../../auth/authorization-server.ts";

const local = createServer({
  name: "local",
  version: "1.0.0",
  tools: { echo: tool({ description: "Returns hello.", call: () => "hello" }) },
});

/** A host with a protected server and a server in this process. */
export interface SignInStage {
  readonly host: Host;
  readonly events: HostEvent[];
  /** The states of the protected server, in order. */
  readonly states: () => string[];
}

/** Creates a host of one user, with the protected server `notes`. */
export async function openHost(url: string, options: HostOptions = {}): Promise<SignInStage> {
  const events: HostEvent[] = [];
  const host = await createHost({
    folder: false,
    servers: { notes: url, local },
    policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
    onEvent: (event) => events.push(event),
    ...options,
  });
  const states = (): string[] =>
    events.flatMap((event) => (event.type === "server" && event.server === "notes" ? [event.state] : []));
  return { host, events, states };
}

/** Calls a tool, and returns its text or its failure. */
export async function textOf(host: Host, name: string): Promise<string> {
  const outcome = await host.callTool(name, {});
  if (outcome.status !== "result") return `${outcome.status}: ${outcome.message}`;
  return outcome.result.content.map((block) => (block.type === "text" ? block.text : block.type)).join(" ");
}

/** A server on loopback that requires a token, and its authorization server. */
export interface ProtectedNotes {
  readonly url: string;
  readonly authorization: AuthorizationServer;
  close(this: void): Promise<void>;
}

/**
 * Starts a server whose tool `write` is listed for everyone, and requires another scope when it is called. Its tool `remove` is only
 * listed with that scope.
 */
export async function startNotes(): Promise<ProtectedNotes> {
  const authorization = await startAuthorizationServer();
  const listening = createHttpServer();
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/mcp`;
  authorization.resources.set(url, { scope: "notes:read notes:write" });
  const verifier = jwtVerifier({ issuer: authorization.issuer, audience: url });
  const handler = toNodeHandler(notes(), {
    path: "/mcp",
    auth: protectedResource({ resource: url, issuers: [authorization.issuer], verifier, scopes: ["notes:read"] }),
  });
  listening.on("request", (request, response) => {
    if (needsScope(request)) refuse(request, response, url);
    else handler(request, response);
  });
  return {
    url,
    authorization,
    async close() {
      await handler.close();
      listening.closeAllConnections();
      listening.close();
      await authorization.close();
    },
  };
}

const notes = () =>
  createServer({
    name: "notes",
    version: "1.0.0",
    tools: {
      whoami: tool({ description: "Returns the user.", call: (_, { principal }) => String(principal?.subject) }),
      write: tool({ description: "Writes a note.", call: () => "written" }),
      remove: tool({ description: "Removes a note.", scopes: ["notes:write"], call: () => "removed" }),
    },
  });

/** Whether a request calls `write` with a token that has not its scope. */
function needsScope({ headers }: IncomingMessage): boolean {
  if (headers["mcp-name"] !== "write") return false;
  const [, payload = ""] = (headers.authorization ?? "").split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString() || "{}") as { scope?: string };
  return claims.scope?.split(" ").includes("notes:write") !== true;
}

function refuse(request: IncomingMessage, response: ServerResponse, url: string): void {
  request.resume();
  const metadata = new URL(`/.well-known/oauth-protected-resource${new URL(url).pathname}`, url);
  const challenge = `Bearer error="insufficient_scope", scope="notes:write", resource_metadata="${metadata.href}"`;
  response.writeHead(403, { "www-authenticate": challenge }).end();
}
