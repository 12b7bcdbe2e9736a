import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { MetaKey, Notification } from "../../mcp/methods.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { type SubscriptionFilter, readSubscriptionFilter } from "../../mcp/subscriptions.ts";
import type { Call } from "../core/call.ts";
import { type Change, type Recording, toNotification, wantsList } from "../core/changes.ts";
import { type Peer, callerKey, unknownCaller } from "../core/context.ts";
import type { ServerCore, Stream } from "../core/server-core.ts";
import type { ExtensionSubscription } from "../core/extension.ts";
import { checkStoredSize } from "../core/stored-size.ts";
import { mayReceive } from "../core/scopes.ts";
import { Shares } from "../core/shares.ts";

/** Characters of JSON that a stream keeps of its client's name and capabilities. Longer ones are dropped. */
const maxPeer = 8_192;

/** The open streams of each server, by caller. */
const sharesOf = new WeakMap<ServerCore, Shares<Stream>>();

/**
 * Answers `subscriptions/listen`: sends the acknowledgment, then the requested changes until either peer ends the stream
 * (2026-07-28, basic/patterns/subscriptions). `recording` contains the changes since the request arrived.
 *
 * While the stream is open, it keeps the filter of the request in memory, and nothing else of its params.
 */
export async function listen(call: Call, recording: Recording): Promise<JsonObject> {
  const { core } = call;
  const filter = readFilter(call);
  const meta = { [MetaKey.subscriptionId]: call.id };
  const extensionSubscriptions: ExtensionSubscription[] = [];
  // Notifications of extensions wait until the acknowledgment is sent.
  let waiting: (() => void)[] | undefined = [];
  const send: SendNotification = (method, params) => {
    const taggedParams = { ...params, _meta: { ...(isObject(params._meta) && params._meta), ...meta } };
    const sendTagged = (): void => call.send(method, taggedParams);
    if (waiting) waiting.push(sendTagged);
    else sendTagged();
  };
  try {
    await subscribeExtensions(call, extensionSubscriptions, send);
    forgetRequest(call);
    // Changes of other processes must arrive once the filter is acknowledged. Between the check of the limit and the opening
    // of the stream nothing is awaited.
    await core.changes.relay?.join();
    makeRoom(call);
    const extensionFilters = extensionSubscriptions.map(({ acknowledged }) => acknowledged);
    const notifications: JsonObject = Object.assign({}, filter, ...extensionFilters);
    call.send(Notification.acknowledged, { _meta: meta, notifications });
    const queue = waiting;
    waiting = undefined;
    for (const sendTagged of queue) sendTagged();
    await streamUntilEnded(call, { filter, meta, recording });
    return { _meta: meta };
  } finally {
    for (const subscription of extensionSubscriptions) subscription.end();
  }
}

/** Reads the filter. Not part of `listen`, because its variables would keep the params in memory while the stream is open. */
function readFilter(call: Call): SubscriptionFilter {
  const filter = readSubscriptionFilter(call.params);
  checkStoredSize(call.core.limits, 0, filter.resourceSubscriptions ?? []);
  return acceptedFilter(call, filter);
}

type SendNotification = (method: string, params: JsonObject) => void;

/** Opens the subscriptions of extensions. Not part of `listen`, for the same reason. */
async function subscribeExtensions(
  call: Call,
  subscriptions: ExtensionSubscription[],
  send: SendNotification,
): Promise<void> {
  const { params, core } = call;
  for (const extension of core.extensions) {
    const subscription = await extension.subscribe?.(params.notifications as JsonObject, call, send);
    if (subscription) subscriptions.push(subscription);
  }
}

/**
 * Releases the request's params, and the client's name and capabilities if they are long. A call that stays open for days
 * must not keep a large request in memory.
 */
function forgetRequest(call: Call): void {
  const { info, capabilities, revision, address } = call.peer;
  const text = JSON.stringify({ info, capabilities });
  type Described = Pick<Peer, "info" | "capabilities">;
  const client: Described = text.length > maxPeer ? { info: undefined, capabilities: {} } : JSON.parse(text);
  call.params = {};
  call.peer = { info: client.info, capabilities: client.capabilities, revision, address };
}

/**
 * Makes room for one more stream. If the server is full, the caller with the most streams loses its oldest one, provided
 * that it has at least two more than this caller. Throws 503 otherwise.
 */
function makeRoom({ core, principal, peer }: Call): void {
  const shares = sharesOf.get(core);
  const limit = core.limits.listenStreams;
  if (!shares || shares.size < limit) return;
  const largest = shares.largest ?? unknownCaller;
  if (shares.count(largest) >= shares.count(callerKey(principal, peer.address)) + 2) {
    for (const oldest of shares.itemsOf(largest)) return oldest.end();
  }
  const message = `${limit} subscription streams are open, the limit of this server (limits.listenStreams). Try again later.`;
  throw new ProtocolError(ErrorCode.InternalError, message, { status: 503 });
}

/** Adds a stream that receives changes; the returned function removes it. */
function openStream({ core, principal, peer }: Call, stream: Stream): () => void {
  const shares = sharesOf.get(core) ?? new Shares();
  sharesOf.set(core, shares);
  const caller = callerKey(principal, peer.address);
  const leave = core.openStream(stream);
  shares.add(caller, stream);
  return () => {
    leave();
    shares.delete(caller, stream);
  };
}

/** Sends changes. Resolves when the server ends the stream, and rejects when the client does. */
function streamUntilEnded(
  call: Call,
  { filter, meta, recording }: { filter: SubscriptionFilter; meta: JsonObject; recording: Recording },
): Promise<void> {
  const uris = new Set(filter.resourceSubscriptions);
  const { core, principal } = call;
  const wants = (change: Change): boolean =>
    "uri" in change ? uris.has(change.uri) && mayReceive(core, change.uri, principal) : wantsList(filter, change.list);
  const deliver = (change: Change): void => {
    const { method, params = {} } = toNotification(change, meta);
    call.send(method, params);
  };
  return new Promise((resolve, reject) => {
    const leave = openStream(call, { wants, deliver, end: () => call.end?.() });
    recording.end();
    for (const change of recording.changes()) if (wants(change)) deliver(change);
    call.end = () => {
      leave();
      // The specification requires both: basic/patterns/cancellation the notification, and subscriptions the result.
      const reason = "The server ended the subscription.";
      call.send(Notification.cancelled, { _meta: meta, requestId: call.id, reason });
      resolve();
    };
    const onAbort = (): void => {
      leave();
      reject(new LocalError("aborted", "The client ended its subscription.", { cause: call.signal.reason }));
    };
    if (call.signal.aborted) onAbort();
    else call.signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Returns the part of a filter that the server supports and the caller may receive. The acknowledgment omits the rest. */
function acceptedFilter({ core, principal }: Call, requestedFilter: SubscriptionFilter): SubscriptionFilter {
  const { tools, prompts, resources } = core.capabilities();
  const filter: SubscriptionFilter = {};
  if (requestedFilter.toolsListChanged && tools?.listChanged) filter.toolsListChanged = true;
  if (requestedFilter.promptsListChanged && prompts?.listChanged) filter.promptsListChanged = true;
  if (requestedFilter.resourcesListChanged && resources?.listChanged) filter.resourcesListChanged = true;
  if (requestedFilter.resourceSubscriptions && resources?.subscribe) {
    filter.resourceSubscriptions = requestedFilter.resourceSubscriptions.filter((uri) =>
      mayReceive(core, uri, principal),
    );
  }
  return filter;
}
