import type { JsonObject } from "../../rpc/messages.ts";
import type { ClientCapabilities, Implementation, ServerCapabilities } from "../../mcp/capabilities.ts";
import { MetaKey } from "../../mcp/meta.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { Channel } from "./connection.ts";

/** What a server said of itself when the connection was opened. */
export interface ServerInfo {
  /** Its name and version; not verified. */
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  /** How to use it, for the model. */
  readonly instructions: string | undefined;
  /** The version of the protocol that is spoken. */
  readonly revision: string;
  readonly era: "modern" | "legacy";
  /** The versions it says it speaks; a legacy server says one. */
  readonly supportedVersions: readonly string[];
}

/** A channel on which the revision is agreed. */
export interface Connection {
  readonly channel: Channel;
  readonly revision: Revision;
  readonly server: ServerInfo;
  /** Tool parameters are to be mirrored in headers. */
  readonly mirrors: boolean;
}

/** Who this client says it is. */
export interface Offer {
  info: Implementation;
  capabilities: (era: "modern" | "legacy") => ClientCapabilities;
}

/** The `_meta` that each request of a modern revision carries (2026-07-28, basic, Per-request protocol fields). */
export function modernMeta(revision: Revision, offer: Offer): JsonObject {
  return {
    [MetaKey.protocolVersion]: revision.version,
    [MetaKey.clientInfo]: offer.info,
    [MetaKey.clientCapabilities]: offer.capabilities("modern"),
  };
}
