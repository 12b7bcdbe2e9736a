import { type JsonObject, type RequestId, isObject } from "../../rpc/messages.ts";
import type { Envelope } from "../../rpc/transport.ts";
import { isMetaKey } from "../../mcp/checks/meta-keys.ts";
import { MetaKey, Method } from "../../mcp/methods.ts";
import { isExtensionList } from "../client-capabilities.ts";
import { type Session, modernMeta } from "../connect/session.ts";
import { type Call, defaultTotal, end, limitsOf, sessionFor, type Next } from "./call.ts";
import { guarded } from "../../rpc/guarded.ts";
import { readProgress } from "../../mcp/progress.ts";
import { headersOf } from "./known-tools.ts";
import type * as AfterFailure from "./after-failure.ts";

/** The last step of a call: sends the request and waits for its result. */
export async function sendRequest(call: Call): Promise<JsonObject> {
  const { core, method, options, what } = call;
  let session = call.session ?? (await sessionFor(call));
  const mirrored = session.mirrors ? await mirroredHeaders(call) : undefined;
  // The connection may have been lost while the tool was looked up.
  if (!session.connection.isOpen) session = call.session = await sessionFor(call);
  if (call.pending) core.cache?.sending(call.pending, call.answers !== undefined);
  call.isSent = true;
  // No spread: it would take longer than the rest of the client's part of a call.
  const { idleTimeout, totalTimeout } = limitsOf(call);
  const onProgress = progressOf(call);
  return session.connection.exchange(method, paramsOf(call, session), {
    idleTimeout,
    totalTimeout,
    what,
    signal: options.signal,
    onProgress,
    onId: onProgress && call.params.task ? (id) => keepProgress(call, id, onProgress) : undefined,
    onPaused: (ms) => void (call.endsAt += ms),
    wantsProgress: true,
    envelope: mirrored ?? (options.maxReply ? options : undefined),
  });
}

/** The token of a call that creates a task is valid until the task ends (2025-11-25, basic/utilities/tasks). */
function keepProgress(call: Call, id: RequestId, onProgress: (params: JsonObject) => void): void {
  call.endProgress?.();
  call.endProgress = call.session?.connection.keepProgress(id, onProgress);
}

/** See `sendWithin` of `ClientCore`. */
export function sendWithin(call: Call, session: Session | undefined): Promise<JsonObject> {
  // The timeout of the client's options is for the whole call of the user.
  const endsAt = call.core.clock.now() + (call.options.timeout?.total ?? defaultTotal);
  if (session) return sendRequest({ ...call, endsAt, session });
  return repair({ ...call, endsAt }, { step: sendRequest, next: end });
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

/**
 * The headers that mirror the params of a call. The tool of a call is looked up first if it is unknown: the server refuses
 * the call without its headers.
 */
async function mirroredHeaders(call: Call): Promise<Envelope | undefined> {
  const { core, method, params } = call;
  const { extensions } = core.options;
  if (method === Method.callTool) {
    const { tools } = core;
    call.listed = tools.generation;
    // Most clients list the tools before they call one.
    const known = tools.isSettled(params.name)
      ? tools.get(params.name)
      : await (await import("./on-demand.ts")).findTool(call);
    const headers = known && (known.headers ??= await headersOf(known.tool));
    if (!headers?.length) return undefined;
    const { mirrorArguments } = await import("./on-demand.ts");
    return { headers: mirrorArguments(headers, params.arguments) };
  }
  if (!isExtensionList(extensions)) return undefined;
  const { extensionHeaders } = await import("./on-demand.ts");
  return extensionHeaders(extensions, method, params);
}

function progressOf({ core, options: { onProgress } }: Call): ((params: JsonObject) => void) | undefined {
  if (!onProgress) return undefined;
  return (params) => {
    const seen = readProgress(params);
    if (seen) guarded(() => onProgress(seen), core.report);
  };
}

/** Sends a call again after a failure that can be repaired. In all these cases the server has not run the call. */
export async function repair(call: Call, next: Next): Promise<JsonObject> {
  const repaired = new Set<string>();
  for (;;) {
    // In a later round of input requests the server has run a part of the call.
    call.isSent = call.answers !== undefined;
    call.session = await openFor(call);
    try {
      return await next.step(call, next.next);
    } catch (error) {
      const failure = await loadAfterFailure();
      // The next step may have opened another session.
      const possible = failure?.repairOf(call, call.session, error);
      if (!possible || repaired.has(possible.kind)) {
        possible?.giveUp?.();
        throw failure?.explain(call, error) ?? error;
      }
      repaired.add(possible.kind);
      await possible.run();
    }
  }
}

/** Returns the session of a call. An error has `safeToRepeat`. */
export async function openFor(call: Call): Promise<Session> {
  try {
    return await sessionFor(call);
  } catch (error) {
    throw (await loadAfterFailure())?.explain(call, error) ?? error;
  }
}

/** Loads the code that most calls do not need. Undefined if it cannot be loaded, for example because the network is down. */
function loadAfterFailure(): Promise<typeof AfterFailure | undefined> {
  return import("./after-failure.ts").catch(() => undefined);
}
