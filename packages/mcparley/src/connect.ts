import { commandDialer } from "#command-transport";
import { checkExtensions } from "./client/client-capabilities.ts";
import { type Attachable, serverDialer, transportDialer } from "./client/connect/local-dialers.ts";
import type { Client } from "./client/calls/client.ts";
import type { CommandTarget, Dialer } from "./client/connect/transports.ts";
import { openClient } from "./client/connect/open-client.ts";
import type { ConnectOptions } from "./client/options.ts";
import type { TypedClient } from "./client/typed-client.ts";
import { type HttpTarget, httpDialer } from "./http/client/dialer.ts";
import { LocalError } from "./rpc/errors.ts";
import { redact } from "./rpc/redact.ts";
import type { Transport } from "./rpc/transport.ts";

/** A URL, a program to start, a server of this process, or a transport of one's own. */
export type ConnectTarget = string | URL | CommandTarget | HttpTarget | Attachable | Transport;

/** What a URL may be given besides: headers, a `fetch`, authorization and limits. Other targets ignore it. */
export type HttpClientOptions = Omit<HttpTarget, "url" | "clock">;

/**
 * Connects to a server and finds out which revision of the protocol it speaks.
 *
 * `target` is the URL of an endpoint, `{ command, args, env, cwd }`, `{ url, headers }`, a server value, or a
 * `Transport`; give a server's type, `connect<typeof server>(...)`, for a typed client. Rejects with `LocalError`:
 * `invalid_target` for what is none of these, `unreachable`, `exited`, `unauthorized` or `timeout` where there is no
 * connection, and `unsupported_revision` where there is no version in common.
 */
export function connect<S extends Attachable>(server: S, options?: ConnectOptions): Promise<Client & TypedClient<S>>;
export function connect<S = unknown>(
  target: ConnectTarget,
  options?: ConnectOptions & HttpClientOptions,
): Promise<Client & TypedClient<S>>;
export async function connect(
  target: ConnectTarget,
  options: ConnectOptions & HttpClientOptions = {},
): Promise<Client> {
  checkExtensions(options);
  return openClient(dial(target, options), options);
}

function dial(target: ConnectTarget, options: ConnectOptions & HttpClientOptions): Dialer {
  if (typeof target === "string" || target instanceof URL)
    return httpDialer({ ...httpOf(options), url: readUrl(target) });
  if (typeof target === "object" && target !== null) {
    if ("attach" in target && typeof target.attach === "function") return serverDialer(target);
    if ("start" in target && typeof target.start === "function") return transportDialer(target);
    if ("command" in target) return commandDialer(target);
    if ("url" in target) {
      const headers = { ...options.headers, ...target.headers };
      return httpDialer({ ...httpOf(options), ...target, headers, url: readUrl(target.url) });
    }
  }
  throw invalidTarget(target);
}

function httpOf({ headers, fetch, auth, limits, clock }: HttpClientOptions & ConnectOptions): Omit<HttpTarget, "url"> {
  return {
    ...(headers && { headers }),
    ...(fetch && { fetch }),
    ...(auth && { auth }),
    ...(limits && { limits }),
    ...(clock && { clock }),
  };
}

function readUrl(given: unknown): URL {
  const url = given instanceof URL ? given : URL.canParse(String(given)) ? new URL(String(given)) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw invalidTarget(given);
}

function invalidTarget(target: unknown): LocalError {
  const accepted =
    'an http or https URL, { command: "node", args: ["server.js"] }, { url, headers }, a server, or a Transport';
  return new LocalError("invalid_target", `Cannot connect to ${show(target)}. Give ${accepted}.`);
}

function show(target: unknown): string {
  // The values of an object may be secrets; its keys tell enough.
  if (typeof target === "object" && target !== null) return `an object with the keys ${Object.keys(target).join(", ")}`;
  return typeof target === "string" ? JSON.stringify(redact(target.slice(0, 200))) : String(target);
}
