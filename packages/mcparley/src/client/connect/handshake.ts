import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject, isStrings } from "../../rpc/messages.ts";
import type { Transport } from "../../rpc/transport.ts";
import { MetaKey, Method } from "../../mcp/methods.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { ClientCore } from "../core.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { TransportFactory } from "./transports.ts";
import { type Offer, type ServerInfo, modernMeta } from "./session.ts";

/** The result of a handshake. */
export interface Negotiated {
  revision: Revision;
  server: ServerInfo;
}

/** A connection to open. */
export interface Opening {
  core: ClientCore;
  transports: TransportFactory;
  makeConnection: (transport: Transport) => ClientConnection;
  offer: Offer;
  /** Its timers keep the process alive, since the caller waits for them. */
  clock: Clock;
  /** A version, or `auto`. */
  revision: string;
  probeTimeout: number;
  /** Milliseconds to wait for each answer. */
  timeout: number;
  /** The part of it that is left for the next answer. Default: all of it. */
  timeLeft?: number;
  signal: AbortSignal;
  /** Called with the end of a connection that is closed after the signal was aborted. */
  closing: (end: Promise<void>) => void;
}

export type Opened = Negotiated & { connection: ClientConnection };

/** How a handshake sends its request. */
export interface Handshake {
  offer: Offer;
  revision: Revision;
  /** Milliseconds to wait for the answer. */
  timeout: number;
  /** The part of it that is left. Default: all of it. */
  timeLeft?: number;
  signal: AbortSignal | undefined;
}

/**
 * Sends `server/discover` in a revision.
 *
 * Throws `unsupported_revision`, with the versions of the server in `data.supported`, if it does not support the revision.
 */
export async function discover(connection: ClientConnection, handshake: Handshake): Promise<Negotiated> {
  const { revision, offer, timeout, timeLeft, signal } = handshake;
  const params = { _meta: modernMeta(revision, offer) };
  const options = { what: "Connecting", idleTimeout: timeout, idleLeft: timeLeft, signal, silent: true };
  const result = await connection.exchange(Method.discover, params, options);
  const versions = result.supportedVersions;
  if (!isStrings(versions)) {
    throw new LocalError("invalid_message", 'The result of server/discover must contain "supportedVersions".');
  }
  if (!versions.includes(revision.version)) throw new NotSupported(versions);
  const meta = isObject(result._meta) ? result._meta : {};
  // Servers of earlier drafts have the name in the result itself.
  const info = meta[MetaKey.serverInfo] ?? result.serverInfo;
  return readNegotiated(revision, { ...result, info, versions });
}

/** The server has answered `server/discover`, and does not support the revision of the request. */
export class NotSupported extends LocalError {
  readonly versions: readonly string[];

  constructor(versions: readonly string[]) {
    super("unsupported_revision", `The server supports ${versions.join(", ")}.`);
    this.versions = versions;
  }
}

/** Makes the result of a handshake from the members of the server's answer. */
export function readNegotiated(
  revision: Revision,
  { capabilities, instructions, info, versions }: JsonObject & { versions: readonly string[] },
): Negotiated {
  // The name is only displayed, so a malformed one is ignored.
  const name = isObject(info) ? info.name : undefined;
  const server: ServerInfo = {
    info: isObject(info) && typeof name === "string" ? { version: "", ...info, name } : undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
    revision: revision.version,
    revisionKind: revision.kind,
    supportedVersions: versions,
  };
  return { revision, server };
}
