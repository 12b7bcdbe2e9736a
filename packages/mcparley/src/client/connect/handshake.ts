import { ErrorCode, LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { Implementation } from "../../mcp/capabilities.ts";
import { MetaKey } from "../../mcp/meta.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { findRevision, latestModern, revisions } from "../../mcp/revisions/revisions.ts";
import type { Channel, SendOptions } from "./connection.ts";
import { type Offer, type ServerInfo, modernMeta } from "./session.ts";
import { withSafeIcons } from "../calls/safe-icons.ts";

/** The revision that was agreed, and what the server said of itself. */
export interface Agreed {
  revision: Revision;
  server: ServerInfo;
}

/** A legacy revision is all that both sides speak: the way on is `initialize` with it. */
export class OnlyLegacy extends LocalError {
  readonly revision: Revision;

  constructor(revision: Revision, supported: readonly string[]) {
    super("unsupported_revision", `The server speaks ${supported.join(", ")}.`);
    this.revision = revision;
  }
}

/**
 * Asks a server what it is, in a modern revision. A server that speaks another one is asked once more, in that one.
 *
 * Throws `OnlyLegacy` where it names none but legacy versions.
 */
export async function discover(channel: Channel, offer: Offer, options: SendOptions): Promise<Agreed> {
  try {
    return await discoverIn(latestModern, channel, offer, options);
  } catch (error) {
    const supported = supportedBy(error);
    if (!supported) throw error;
    return discoverIn(choose(supported, "modern"), channel, offer, options);
  }
}

/** Asks in one revision and accepts no other. */
export async function discoverIn(
  revision: Revision,
  channel: Channel,
  offer: Offer,
  options: SendOptions,
): Promise<Agreed> {
  const params = { _meta: modernMeta(revision, offer) };
  const result = await channel.request(Method.discover, params, options);
  const versions = result.supportedVersions;
  if (!isStrings(versions)) {
    throw new LocalError("invalid_message", 'The server answered server/discover without "supportedVersions".');
  }
  const agreed = versions.includes(revision.version) ? revision : choose(versions, "modern");
  const meta = isObject(result._meta) ? result._meta : {};
  // Servers of drafts before the release had the name in the result itself.
  const info = readInfo(meta[MetaKey.serverInfo] ?? result.serverInfo);
  return { revision: agreed, server: serverInfo(result, info, agreed, versions) };
}

/** Opens a legacy session: offers a revision and takes any legacy one that the server answers with, or that one alone. */
export async function initialize(
  channel: Channel,
  offer: Offer,
  options: SendOptions & { revision: Revision; exactly?: boolean },
): Promise<Agreed> {
  const { revision, exactly = false, ...send } = options;
  const params = {
    protocolVersion: revision.version,
    capabilities: offer.capabilities("legacy"),
    clientInfo: offer.info,
  };
  const result = await channel.request(Method.initialize, params, { ...send, silent: true });
  const agreed = findRevision(result.protocolVersion);
  if (agreed?.era !== "legacy" || (exactly && agreed !== revision)) {
    throw unsupported([String(result.protocolVersion)], exactly ? revision.version : undefined);
  }
  channel.notify(Notification.initialized);
  const info = readInfo(result.serverInfo);
  return { revision: agreed, server: serverInfo(result, info, agreed, [agreed.version]) };
}

/** The versions that a modern error names; undefined where the error is none of those that only modern servers give. */
export function supportedBy(error: unknown): readonly string[] | undefined {
  if (!(error instanceof ProtocolError)) return undefined;
  const supported = isObject(error.data) ? error.data.supported : undefined;
  if (error.code === ErrorCode.UnsupportedProtocolVersion) return isStrings(supported) ? supported : [];
  // A server may say the same with a general code, as legacy ones do; that it names a modern version tells it apart.
  const namesModern = isStrings(supported) && supported.some((version) => findRevision(version)?.era === "modern");
  return namesModern ? supported : undefined;
}

/** Whether only a modern server gives this error (2026-07-28, basic/versioning, Backward Compatibility). */
export function isModernError(error: unknown): boolean {
  if (error instanceof OnlyLegacy || !(error instanceof ProtocolError)) return false;
  const { code } = error;
  const recognized = code === ErrorCode.HeaderMismatch || code === ErrorCode.MissingRequiredClientCapability;
  return recognized || supportedBy(error) !== undefined;
}

/** The newest revision of an era among the versions. */
function choose(versions: readonly string[], era: "modern"): Revision {
  const common = revisions.filter(({ version }) => versions.includes(version));
  const chosen = common.find((revision) => revision.era === era);
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

function serverInfo(
  result: JsonObject,
  info: Implementation | undefined,
  revision: Revision,
  supportedVersions: readonly string[],
): ServerInfo {
  return {
    info,
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    instructions: typeof result.instructions === "string" ? result.instructions : undefined,
    revision: revision.version,
    era: revision.era,
    supportedVersions,
  };
}

/** A name is for display, so one that is malformed is no reason to refuse a server. */
function readInfo(value: unknown): Implementation | undefined {
  const readable = isObject(value) && typeof value.name === "string";
  return readable ? withSafeIcons({ version: "", ...value } as unknown as Implementation) : undefined;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
