import { hasCode } from "../../rpc/errors.ts";
import { type JsonObject, type RequestId, isObject } from "../../rpc/messages.ts";
import type { Envelope } from "../../rpc/transport.ts";
import { isMetaKey, MetaKey, Method } from "../../mcp/methods.ts";
import { isExtensionList } from "../client-capabilities.ts";
import { type Session, modernMeta } from "../connect/session.ts";
import { limitsOf, sessionFor } from "./call.ts";
import type { Call } from "../core.ts";
import { guarded } from "../../rpc/guarded.ts";
import { type Progress, readProgress } from "../../mcp/progress.ts";
import { mirroredHeaders } from "./mirrored-headers.ts";

/** The last step of a call: sends the request and waits for its result. */
export function sendRequest(call: Call): Promise<JsonObject> {
  const { session } = call;
  // Most calls wait for nothing before they are sent. They need only the promise of the result.
  if (session?.connection.isOpen && mirrorsNothing(call, session)) return exchange(call, session, undefined);
  return sendWhenReady(call);
}

async function sendWhenReady(call: Call): Promise<JsonObject> {
  let session = call.session ?? (await sessionFor(call));
  const headers = mirrorsNothing(call, session) ? undefined : await mirroredHeaders(call);
  // The connection may have been lost while the tool was looked up, or directly after it was opened.
  if (!session.connection.isOpen) {
    const reason = await session.connection.loss;
    // A lost session is repaired once, so that a server that loses each session gets no third one.
    if (hasCode(reason, "session_lost")) throw reason;
    session = call.session = await sessionFor(call);
  }
  return exchange(call, session, headers);
}

function exchange(call: Call, session: Session, headers: Envelope | undefined): Promise<JsonObject> {
  const { core, method, options, what } = call;
  if (call.pending) core.cache?.sending(call.pending, call.answers !== undefined);
  call.isSent = true;
  // A spread would take longer than all other work of the client for a call.
  const { idleTimeout, totalTimeout, totalLeft } = limitsOf(call);
  const onProgress = progressOf(call);
  return session.connection.exchange(method, paramsOf(call, session), {
    idleTimeout,
    totalTimeout,
    totalLeft,
    what,
    signal: options.signal,
    onProgress,
    onId: onProgress && call.params.task ? (id) => keepProgress(call, id, onProgress) : undefined,
    onPaused: (ms) => void (call.endsAt += ms),
    wantsProgress: true,
    envelope: headers ?? (options.maxReply ? options : undefined),
  });
}

/** The token of a call that creates a task is valid until the task ends (2025-11-25, basic/utilities/tasks). */
function keepProgress(call: Call, id: RequestId, onProgress: (params: JsonObject) => void): void {
  call.endProgress?.();
  call.endProgress = call.session?.connection.keepProgress(id, onProgress);
}

function paramsOf({ core, method, options, params, answers }: Call, { revision }: Session): JsonObject {
  const isModern = revision.kind === "modern";
  let meta = isModern ? modernMeta(revision, core.offer) : {};
  if (params._meta || options.meta) {
    meta = { ...(isObject(params._meta) && params._meta), ...options.meta, ...meta };
    const wrong = Object.keys(meta).find((key) => !isMetaKey(key));
    if (wrong !== undefined) throw new TypeError(`The _meta of ${method} has the invalid key "${wrong}".`);
  }
  const level = isModern ? (options.logLevel ?? core.logLevel) : undefined;
  if (level !== undefined) meta[MetaKey.logLevel] = level;
  return { ...params, ...answers, _meta: meta };
}

/** Whether it is known that no header mirrors the params of a call. */
function mirrorsNothing(call: Call, { mirrors }: Session): boolean {
  const { core, method, params } = call;
  const { tools, options } = core;
  if (!mirrors) return true;
  if (method !== Method.callTool) return !isExtensionList(options.extensions);
  call.listGeneration = tools.generation;
  const knownTool = tools.get(params.name);
  return tools.isSettled(params.name) && (!knownTool || knownTool.headers?.length === 0);
}

function progressOf(call: Call): ((params: JsonObject) => void) | undefined {
  if (!call.options.onProgress) return undefined;
  return (params) => {
    const progress = readProgress(params);
    if (progress) notifyProgress(call, progress);
  };
}

/** Passes progress to the caller. */
export function notifyProgress(call: Call, progress: Progress): void {
  call.progress = progress;
  guarded(() => call.options.onProgress?.(progress), call.core.report);
}
