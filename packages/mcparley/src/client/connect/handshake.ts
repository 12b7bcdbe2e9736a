import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { MetaKey, Method, Notification } from "../../mcp/methods.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { Implementation } from "../../mcp/capabilities.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { findRevision, latestModern, revisions } from "../../mcp/revisions/index.ts";
import type { Connection, SendOptions } from "./connection.ts";
import { type Offer, type ServerInfo, modernMeta } from "./session.ts";
import { withSafeIcons } from "../calls/safe-icons.ts";

/** The result of a handshake. */
export interface Agreed {
  revision: Revision;
  server: ServerInfo;
}

/** The only revisions that both sides support are legacy ones. The client continues with `initialize`. */
export class OnlyLegacy extends LocalError {
  readonly revision: Revision;

  constructor(revision: Revision, supported: readonly string[]) {
    super("unsupported_revision", `The server speaks ${supported.join(", ")}.`);
    this.revision = revision;
  }
}

/**
 * Sends `server/discover` in the latest modern revision, and again in another one if the server supports only that.
 *
 * Throws `OnlyLegacy` if the server names only legacy versions.
 */
export async function discoverServer(connection: Connection, offer: Offer, options: SendOptions): Promise<Agreed> {
  try {
    return await discoverIn(connection, offer, { ...options, revision: latestModern });
  } catch (error) {
    const supported = supportedBy(error);
    if (!supported) throw error;
    return discoverIn(connection, offer, { ...options, revision: chooseModern(supported) });
  }
}

/** Sends `server/discover` in one revision. */
export async function discoverIn(
  connection: Connection,
  offer: Offer,
  options: SendOptions & { revision: Revision },
): Promise<Agreed> {
  const { revision, ...send } = options;
  const params = { _meta: modernMeta(revision, offer) };
  const result = await connection.exchange(Method.discover, params, send);
  const versions = result.supportedVersions;
  if (!isStrings(versions)) {
    throw new LocalError("invalid_message", 'The server answered server/discover without "supportedVersions".');
  }
  const agreed = versions.includes(revision.version) ? revision : chooseModern(versions);
  const meta = isObject(result._meta) ? result._meta : {};
  // Servers of earlier drafts have the name in the result itself.
  const info = readInfo(meta[MetaKey.serverInfo] ?? result.serverInfo);
  return agreedOn(agreed, result, { info, supportedVersions: versions });
}

/** Opens a legacy session. Accepts any legacy revision that the server answers with, or with `exactly` only the offered one. */
export async function initialize(
  connection: Connection,
  offer: Offer,
  options: SendOptions & { revision: Revision; exactly?: boolean },
): Promise<Agreed> {
  const { revision, exactly = false, ...send } = options;
  const params = {
    protocolVersion: revision.version,
    capabilities: offer.capabilities("legacy"),
    clientInfo: offer.info,
  };
  const result = await connection.exchange(Method.initialize, params, { ...send, silent: true });
  const agreed = findRevision(result.protocolVersion);
  if (agreed?.era !== "legacy" || (exactly && agreed !== revision)) {
    throw unsupported([String(result.protocolVersion)], exactly ? revision.version : undefined);
  }
  connection.sendNotification(Notification.initialized);
  const info = readInfo(result.serverInfo);
  return agreedOn(agreed, result, { info, supportedVersions: [agreed.version] });
}

/** Returns the versions that a modern error names. Undefined if the error may come from a legacy server. */
export function supportedBy(error: unknown): readonly string[] | undefined {
  if (!(error instanceof ProtocolError)) return undefined;
  const supported = isObject(error.data) ? error.data.supported : undefined;
  if (error.code === ErrorCode.UnsupportedProtocolVersion) return isStrings(supported) ? supported : [];
  // Some servers use a general code, as legacy servers do. Then a modern version in the error identifies a modern server.
  const namesModern = isStrings(supported) && supported.some((version) => findRevision(version)?.era === "modern");
  return namesModern ? supported : undefined;
}

/** Whether the error can only come from a modern server (2026-07-28, basic/versioning, Backward Compatibility). */
export function isModernError(error: unknown): boolean {
  if (error instanceof OnlyLegacy || !(error instanceof ProtocolError)) return false;
  const { code } = error;
  const recognized = code === ErrorCode.HeaderMismatch || code === ErrorCode.MissingRequiredClientCapability;
  return recognized || supportedBy(error) !== undefined;
}

/** Returns the newest modern revision among the versions. */
function chooseModern(versions: readonly string[]): Revision {
  const common = revisions.filter(({ version }) => versions.includes(version));
  const chosen = common.find((revision) => revision.era === "modern");
  if (chosen) return chosen;
  const [legacy] = common;
  throw legacy ? new OnlyLegacy(legacy, versions) : unsupported(versions, undefined);
}

export function unsupported(theirs: readonly string[], pinned: string | undefined, cause?: unknown): LocalError {
  const ours = pinned === undefined ? revisions.map(({ version }) => version).join(", ") : `${pinned} (pinned)`;
  const said = theirs.length === 0 ? "none" : theirs.slice(0, 20).join(", ").slice(0, 400);
  const message = `No protocol version in common: the server speaks ${said}; this client speaks ${ours}.`;
  return new LocalError("unsupported_revision", message, { cause, data: { supported: theirs } });
}

function agreedOn(
  revision: Revision,
  { capabilities, instructions }: JsonObject,
  { info, supportedVersions }: Pick<ServerInfo, "info" | "supportedVersions">,
): Agreed {
  const server: ServerInfo = {
    info,
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
    revision: revision.version,
    era: revision.era,
    supportedVersions,
  };
  return { revision, server };
}

/** The name is only displayed, so a malformed one is ignored. */
function readInfo(value: unknown): Implementation | undefined {
  const readable = isObject(value) && typeof value.name === "string";
  return readable ? withSafeIcons({ version: "", ...value } as unknown as Implementation) : undefined;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
