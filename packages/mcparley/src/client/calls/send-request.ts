import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { type JsonObject, type RequestId, isObject } from "../../rpc/messages.ts";
import type { Envelope } from "../../rpc/transport.ts";
import { isMetaKey, MetaKey, Method } from "../../mcp/methods.ts";
import { isExtensionList } from "../client-capabilities.ts";
import { type Session, modernMeta } from "../connect/session.ts";
import { type Call, defaultTotal, end, limitsOf, sessionFor, type Next } from "./call.ts";
import { guarded } from "../../rpc/guarded.ts";
import { type Progress, readProgress } from "../../mcp/progress.ts";
import type * as AfterFailure from "./after-failure.ts";

/** The last step of a call: sends the request and waits for its result. */
export function sendRequest(call: Call): Promise<JsonObject> {
  const { session } = call;
  // Most calls wait for nothing before they are sent, and need no promise but that of the result.
  if (session?.connection.isOpen && mirrorsNothing(call, session)) return exchange(call, session, undefined);
  return sendWhenReady(call);
}

async function sendWhenReady(call: Call): Promise<JsonObject> {
  let session = call.session ?? (await sessionFor(call));
  const mirrored = mirrorsNothing(call, session)
    ? undefined
    : await (await import("./on-demand.ts")).mirroredHeaders(call);
  // The connection may have been lost while the tool was looked up.
  if (!session.connection.isOpen) session = call.session = await sessionFor(call);
  return exchange(call, session, mirrored);
}

function exchange(call: Call, session: Session, mirrored: Envelope | undefined): Promise<JsonObject> {
  const { core, method, options, what } = call;
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
export async function sendWithin(call: Call, session: Session | undefined): Promise<JsonObject> {
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

/** Whether it is known that no header mirrors the params of a call. */
function mirrorsNothing(call: Call, { mirrors }: Session): boolean {
  const { core, method, params } = call;
  const { tools, options } = core;
  if (!mirrors) return true;
  if (method !== Method.callTool) return !isExtensionList(options.extensions);
  call.listed = tools.generation;
  const known = tools.get(params.name);
  return tools.isSettled(params.name) && (!known || known.headers?.length === 0);
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

/** Sends a call again after a failure that can be repaired. In all these cases the server has not run the call. */
export async function repair(call: Call, next: Next): Promise<JsonObject> {
  // Not a set, because almost no call needs it.
  const repaired: string[] = [];
  for (;;) {
    // In a later round of input requests the server has run a part of the call.
    call.isSent = call.answers !== undefined;
    const opened = openFor(call);
    call.session = isPromise(opened) ? await opened : opened;
    try {
      return await next.step(call, next.next);
    } catch (error) {
      const failure = await loadAfterFailure();
      // The next step may have opened another session.
      const possible = failure?.repairOf(call, call.session, error);
      if (!possible || repaired.includes(possible.kind)) {
        possible?.giveUp?.();
        throw failure?.explain(call, error) ?? error;
      }
      repaired.push(possible.kind);
      await possible.run();
    }
  }
}

/** Returns the session of a call. An error has `safeToRepeat`. */
export function openFor(call: Call): Awaitable<Session> {
  const opened = sessionFor(call);
  if (!isPromise(opened)) return opened;
  return opened.catch(async (error: unknown) => {
    throw (await loadAfterFailure())?.explain(call, error) ?? error;
  });
}

/** Loads the code that most calls do not need. Undefined if it cannot be loaded, for example because the network is down. */
function loadAfterFailure(): Promise<typeof AfterFailure | undefined> {
  return import("./after-failure.ts").catch(() => undefined);
}
