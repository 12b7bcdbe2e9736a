import { commandDialer } from "#command-transport";
import { type Attachable, serverDialer, transportDialer } from "../client/local-dialers.ts";
import type { Client } from "../client/client.ts";
import type { CommandTarget, Dialer, HttpTarget } from "../client/dialer.ts";
import { openClient } from "../client/open-client.ts";
import type { ConnectOptions } from "../client/options.ts";
import type { TypedClient } from "../client/typed-client.ts";
import { httpDialer } from "../http/client-dialer.ts";
import { LocalError } from "../jsonrpc/errors.ts";
import type { Transport } from "../jsonrpc/transport.ts";

/** A URL, a program to start, a server of this process, or a transport of one's own. */
export type ConnectTarget = string | URL | CommandTarget | HttpTarget | Attachable | Transport;

/**
 * Connects to a server and finds out which revision of the protocol it speaks.
 *
 * `target` is the URL of an endpoint, `{ command, args, env, cwd }`, `{ url, headers }`, a server value, or a
 * `Transport`; give a server's type, `connect<typeof server>(...)`, for a typed client. Rejects with `LocalError`:
 * `invalid_target` for what is none of these, `unreachable`, `exited`, `unauthorized` or `timeout` where there is no
 * connection, and `unsupported_revision` where there is no version in common.
 */
export function connect<S extends Attachable>(server: S, options?: ConnectOptions): Promise<Client & TypedClient<S>>;
export function connect<S = unknown>(target: ConnectTarget, options?: ConnectOptions): Promise<Client & TypedClient<S>>;
export async function connect(target: ConnectTarget, options: ConnectOptions = {}): Promise<Client> {
  return openClient(dial(target), options);
}

function dial(target: ConnectTarget): Dialer {
  if (typeof target === "string" || target instanceof URL) return httpDialer({ url: readUrl(target) });
  if (typeof target === "object" && target !== null) {
    if ("attach" in target && typeof target.attach === "function") return serverDialer(target);
    if ("start" in target && typeof target.start === "function") return transportDialer(target);
    if ("command" in target) return commandDialer(target);
    if ("url" in target) return httpDialer({ ...target, url: readUrl(target.url) });
  }
  throw invalidTarget(target);
}

function readUrl(given: unknown): URL {
  const url = given instanceof URL ? given : URL.canParse(String(given)) ? new URL(String(given)) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw invalidTarget(given);
}

function invalidTarget(target: unknown): LocalError {
  const shown = typeof target === "string" ? JSON.stringify(target.slice(0, 100)) : `a value of type ${typeof target}`;
  const accepted = 'an http or https URL, { command: "node", args: ["server.js"] }, { url, headers }, a server, or a Transport';
  return new LocalError("invalid_target", `Cannot connect to ${shown}. Give ${accepted}.`);
}
