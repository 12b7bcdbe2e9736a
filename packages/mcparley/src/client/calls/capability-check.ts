import { LocalError } from "../../rpc/errors.ts";
import type { ServerCapabilities } from "../../mcp/capabilities.ts";
import { Method } from "../../mcp/methods.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { revisions } from "../../mcp/revisions/revisions.ts";
import type { Connection } from "../connect/session.ts";

const needed: Record<string, keyof ServerCapabilities & string> = {
  [Method.listTools]: "tools",
  [Method.callTool]: "tools",
  [Method.listPrompts]: "prompts",
  [Method.getPrompt]: "prompts",
  [Method.listResources]: "resources",
  [Method.listResourceTemplates]: "resources",
  [Method.readResource]: "resources",
  [Method.subscribe]: "resources",
  [Method.unsubscribe]: "resources",
  [Method.complete]: "completions",
  [Method.setLevel]: "logging",
};

/**
 * Throws `not_capable` for a request that the server cannot answer: its revision has no such method, or it has not
 * declared what the method belongs to. Methods of extensions pass.
 */
export function requireCapability({ revision, server }: Connection, method: string): void {
  if (!revision.clientRequests.has(method)) {
    const isKnown = revisions.some(({ clientRequests }) => clientRequests.has(method));
    if (!isKnown) return;
    throw new LocalError(
      "not_capable",
      `Protocol revision ${revision.version}, which the server speaks, has no ${method}.`,
    );
  }
  const capability = Object.hasOwn(needed, method) ? needed[method] : undefined;
  if (capability === undefined || server.capabilities[capability] || !hasCapability(revision, capability)) return;
  const message = `${method} needs the server capability "${capability}", which the server has not declared.`;
  throw new LocalError("not_capable", message, { data: { capability } });
}

/** Whether a revision has a word for the capability: before it did, servers had the feature without declaring it. */
function hasCapability({ completionsCapability }: Revision, capability: string): boolean {
  return capability !== "completions" || completionsCapability;
}
