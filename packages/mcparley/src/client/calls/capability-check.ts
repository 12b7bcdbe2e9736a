import { LocalError } from "../../rpc/errors.ts";
import type { ServerCapabilities } from "../../mcp/capabilities.ts";
import { Method } from "../../mcp/methods.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { revisions } from "../../mcp/revisions/revisions.ts";
import type { Session } from "../connect/session.ts";

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
 * Returns the `not_capable` error for a request that the server cannot answer: its revision has no such method, or it has
 * not declared the capability of the method. Methods of extensions need no capability.
 */
export function missingCapability({ revision, server }: Session, method: string): LocalError | undefined {
  if (!revision.clientRequests.has(method)) {
    const isKnown = revisions.some(({ clientRequests }) => clientRequests.has(method));
    if (!isKnown) return undefined;
    const message = `Protocol revision ${revision.version}, which the server speaks, has no ${method}.`;
    return new LocalError("not_capable", message);
  }
  const capability = Object.hasOwn(needed, method) ? needed[method] : undefined;
  if (capability === undefined || server.capabilities[capability] || !hasCapability(revision, capability))
    return undefined;
  const message = `${method} needs the server capability "${capability}", which the server has not declared.`;
  return new LocalError("not_capable", message, { data: { capability } });
}

/** Whether a revision defines the capability. Before it did, servers had the feature without declaring it. */
function hasCapability({ completionsCapability }: Revision, capability: string): boolean {
  return capability !== "completions" || completionsCapability;
}
