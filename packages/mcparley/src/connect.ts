import { commandTransports } from "#command-transport";
import type { Client } from "./client/client.ts";
import { checkExtensions } from "./client/client-capabilities.ts";
import { openClient } from "./client/open-client.ts";
import {
  type InProcessServer,
  type CommandTarget,
  type TransportFactory,
  customTransport,
  serverTransports,
} from "./client/connect/transports.ts";
import type { ConnectOptions } from "./client/options.ts";
import type { TypedClient } from "./client/typed-client.ts";
import type { HttpTarget } from "./http/client/settings.ts";
import { httpTransports } from "./http/client/transport.ts";
import { LocalError } from "./rpc/errors.ts";
import type { Principal } from "./server/core/context.ts";
import { redact } from "./rpc/redact.ts";
import type { Transport } from "./rpc/transport.ts";

/** A URL, a program to start, a server of this process, or a custom transport. */
export type ConnectTarget = string | URL | CommandTarget | HttpTarget | InProcessServer | Transport;

/** Options for a URL: headers, a `fetch`, authorization and limits. Other targets ignore them. */
export type HttpClientOptions = Omit<HttpTarget, "url" | "clock">;

/** Options for a server of this process. */
export interface ServerConnectOptions extends ConnectOptions {
  /**
   * The caller of all requests. Its scopes decide which definitions the client sees. `localUser` of `mcparley/server` has all
   * scopes. Default: none, so definitions with `scopes` are hidden, and a warning names them.
   */
  principal?: Principal | undefined;
}

/**
 * Connects to a server in this process. The client has the types of the server's tools and prompts.
 *
 * @example
 * ```ts
 * import { connect } from "mcparley/client";
 * import { createServer, tool } from "mcparley/server";
 *
 * const greet = tool({ call: () => "Hello!" });
 * const server = createServer({ name: "greeter", version: "1.0.0", tools: { greet } });
 * await using client = await connect(server);
 * console.log(await client.tools.greet());
 * ```
 */
export function connect<S extends InProcessServer>(
  server: S,
  options?: ServerConnectOptions,
): Promise<Client & TypedClient<S>>;
/**
 * Connects to a server and negotiates the protocol revision.
 *
 * `target` is the URL of an endpoint, `{ command, args, env, cwd }`, `{ url, headers }`, a server value, or a
 * `Transport`. Pass a server's type, `connect<typeof server>(...)`, for a typed client. The caller owns the client and must
 * close it, with `await using` or `close()`.
 *
 * Rejects with `LocalError`: `invalid_target` for another target, `unreachable`, `exited`, `unauthorized` or `timeout` if
 * the connection fails, and `unsupported_revision` if there is no common version.
 *
 * @example
 * ```ts
 * import { connect } from "mcparley/client";
 *
 * await using client = await connect("https://example.com/mcp", {
 *   headers: { authorization: `Bearer ${process.env.TOKEN}` },
 *   onError: (error) => console.error(error),
 * });
 * console.log(client.server.info?.name, await client.callTool("forecast", { city: "Oslo" }));
 * ```
 */
export function connect<S = unknown>(
  target: ConnectTarget,
  options?: ConnectOptions & HttpClientOptions,
): Promise<Client & TypedClient<S>>;
export async function connect(
  target: ConnectTarget,
  options: ServerConnectOptions & HttpClientOptions = {},
): Promise<Client> {
  checkExtensions(options);
  return openClient(transportsOf(target, options), options);
}

function transportsOf(
  target: ConnectTarget,
  { principal, ...options }: ServerConnectOptions & HttpClientOptions,
): TransportFactory {
  if (typeof target === "object" && target !== null && "attach" in target && typeof target.attach === "function")
    return serverTransports(target, { principal });
  if (principal !== undefined)
    throw new LocalError("invalid_target", "Only a server of this process takes the option principal.");
  if (typeof target === "string" || target instanceof URL) return httpTransports({ ...options, url: target });
  if (typeof target === "object" && target !== null) {
    if ("start" in target && typeof target.start === "function") return customTransport(target);
    if ("command" in target) return commandTransports(target);
    if ("url" in target) {
      const headers = { ...options.headers, ...target.headers };
      return httpTransports({ ...options, ...target, headers });
    }
  }
  const accepted =
    'an http or https URL, { command: "node", args: ["server.js"] }, { url, headers }, a server, or a Transport';
  throw new LocalError("invalid_target", `Cannot connect to ${describeTarget(target)}. Pass ${accepted}.`);
}

function describeTarget(target: unknown): string {
  // The values of an object may be secrets.
  if (typeof target === "object" && target !== null) return `an object with the keys ${Object.keys(target).join(", ")}`;
  return typeof target === "string" ? JSON.stringify(redact(target.slice(0, 200))) : String(target);
}
