import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { Implementation } from "../../mcp/capabilities.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { findRevision, revisions } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { Connection } from "./connection.ts";
import { type Agreed, type Handshake, NotSupported, agreedOn, isStrings } from "./handshake.ts";

/** Opens a legacy session. Accepts any legacy revision that the server answers with, or with `exactly` only the offered one. */
export async function initialize(
  connection: Connection,
  { revision, exactly = false, offer, timeout, signal }: Handshake & { exactly?: boolean },
): Promise<Agreed> {
  const params = {
    protocolVersion: revision.version,
    capabilities: offer.capabilities("legacy"),
    clientInfo: await describedIn(revision, offer.info),
  };
  const options = { what: "Connecting", idleTimeout: timeout, signal, silent: true };
  const result = await connection.exchange(Method.initialize, params, options);
  const agreed = findRevision(result.protocolVersion);
  if (agreed?.kind !== "legacy" || (exactly && agreed !== revision)) {
    throw unsupported([String(result.protocolVersion)], exactly ? revision.version : undefined);
  }
  connection.sendNotification(Notification.initialized);
  return agreedOn(agreed, { ...result, info: result.serverInfo, versions: [agreed.version] });
}

/** Returns the client's name with the members that the revision defines. All define the name and the version. */
async function describedIn(revision: Revision, info: Implementation): Promise<Implementation> {
  if (Object.keys(info).length <= 2) return info;
  const { legacyEncoderOf } = await import("../../mcp/revisions/legacy-encoders.ts");
  return legacyEncoderOf(revision).implementation(info);
}

/** Returns the versions that a modern server names in an error. Undefined if the error may come from a legacy server. */
export function supportedBy(error: unknown): readonly string[] | undefined {
  if (error instanceof NotSupported) return error.supported;
  if (!(error instanceof ProtocolError)) return undefined;
  const supported = isObject(error.data) ? error.data.supported : undefined;
  if (error.code === ErrorCode.UnsupportedProtocolVersion) return isStrings(supported) ? supported : [];
  // Some servers use a general code, as legacy servers do. Then a modern version in the error identifies a modern server.
  const namesModern = isStrings(supported) && supported.some((version) => findRevision(version)?.kind === "modern");
  return namesModern ? supported : undefined;
}

/** Whether the error can only come from a modern server (2026-07-28, basic/versioning, Backward Compatibility). */
export function isModernError(error: unknown): boolean {
  if (supportedBy(error)) return true;
  if (!(error instanceof ProtocolError)) return false;
  return error.code === ErrorCode.HeaderMismatch || error.code === ErrorCode.MissingRequiredClientCapability;
}

/** Returns the newest revision among the versions. Throws `unsupported_revision` if there is none. */
export function newestOf(versions: readonly string[]): Revision {
  const newest = revisions.find(({ version }) => versions.includes(version));
  if (newest) return newest;
  throw unsupported(versions, undefined);
}

export function unsupported(theirs: readonly string[], pinned: string | undefined, cause?: unknown): LocalError {
  const ours = pinned === undefined ? revisions.map(({ version }) => version).join(", ") : `${pinned} (pinned)`;
  const said = theirs.length === 0 ? "none" : theirs.slice(0, 20).join(", ").slice(0, 400);
  const message = `No protocol version in common: the server speaks ${said}; this client speaks ${ours}.`;
  return new LocalError("unsupported_revision", message, { cause, data: { supported: theirs } });
}
