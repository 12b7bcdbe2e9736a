import { LocalError } from "../../rpc/errors.ts";
import type { ServerCapabilities } from "../../mcp/capabilities.ts";
import { Method } from "../../mcp/methods.ts";
import { revisions } from "../../mcp/revisions/index.ts";
import type { Session } from "../connect/session.ts";
import { openFor } from "./repair.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { findNotJson, isJson } from "../../rpc/json-values.ts";
import type { Call, Next } from "../core.ts";
import type { RequestOptions } from "../options.ts";
import { nameOf } from "./call.ts";

/** Throws `invalid_message` for a message with a value that JSON cannot carry, which the error names, or with a broken name. */
export function requireSendable({
  what,
  params,
  options,
}: Pick<Call, "what" | "params"> & { options?: RequestOptions }): void {
  const isPlain = isJson(params) && isJson(options?.meta);
  const wrong = isPlain ? undefined : (findNotJson(params, "") ?? findNotJson(options?.meta, "meta"));
  if (wrong === undefined) {
    if (isWellNamed(params)) return;
    throw brokenName(what);
  }
  const message = `${what} was not sent: ${wrong}, which JSON cannot represent.`;
  throw new LocalError("invalid_message", message, { data: { safeToRepeat: true } });
}

/** Makes the error for a request that names something by a text with a lone surrogate. The server would receive another name. */
export function brokenName(what: string): LocalError {
  const message = `${what} was not sent: its name or URI has half of a surrogate pair. Use whole characters.`;
  return new LocalError("invalid_message", message, { data: { safeToRepeat: true } });
}

/** Whether the tool, prompt, template or URI that a request names has no lone surrogate, so that it arrives unchanged. */
function isWellNamed(params: JsonObject): boolean {
  const { ref } = params;
  return nameOf(params)?.isWellFormed() !== false && (!isObject(ref) || isWellNamed(ref));
}

/** Opens a session if there is none. Throws `not_capable` for a request that the server cannot answer. */
export async function requireSession(call: Call, next: Next): Promise<JsonObject> {
  const { method } = call;
  const session = await openFor(call);
  call.session = session;
  if (!isCapable(session, method)) throw notCapable(session, method);
  return next.step(call, next.next);
}

/** Makes the error for a request that the server of a session cannot answer. */
function notCapable({ revision }: Session, method: string): LocalError {
  if (!revision.clientRequests.has(method)) {
    return new LocalError("not_capable", `Protocol revision ${revision.version} of this connection has no ${method}.`);
  }
  const capability = neededCapabilities[method];
  const message = `${method} needs the server capability "${capability}", which the server has not declared.`;
  return new LocalError("not_capable", message, { data: { capability } });
}

/** The capabilities that methods need. */
const neededCapabilities: Readonly<Record<string, keyof ServerCapabilities & string>> = {
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
 * Whether the server can answer a request: its revision has the method, and it has declared the capability of the method.
 * Methods of extensions need no capability.
 */
export function isCapable({ revision, server }: Session, method: string): boolean {
  if (!revision.clientRequests.has(method)) return !revisions.some(({ clientRequests }) => clientRequests.has(method));
  const capability = Object.hasOwn(neededCapabilities, method) ? neededCapabilities[method] : undefined;
  if (capability === undefined || server.capabilities[capability]) return true;
  // Before a revision defined this capability, servers had the feature without declaring it.
  return capability === "completions" && !revision.completionsCapability;
}
