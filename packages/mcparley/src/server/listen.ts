import { LocalError, ProtocolError, ErrorCode } from "../jsonrpc/errors.ts";
import type { JsonObject } from "../jsonrpc/messages.ts";
import { MetaKey } from "../protocol/meta.ts";
import { Notification } from "../protocol/methods.ts";
import { type SubscriptionFilter, readSubscriptionFilter } from "../protocol/subscriptions.ts";
import type { Call } from "./call.ts";
import { type Change, type Recording, toNotification, wantsList } from "./changes.ts";
import type { ServerCore } from "./core.ts";
import type { ExtensionSubscription } from "./extension.ts";

/**
 * Answers `subscriptions/listen`: acknowledges, then sends the changes that were asked for until either side ends it
 * (2026-07-28, basic/patterns/subscriptions). `missed` holds what changed since the request came.
 */
export async function listen(call: Call, missed: Recording): Promise<JsonObject> {
  const { core } = call;
  const filter = honoured(core, readSubscriptionFilter(call.params));
  const meta = { [MetaKey.subscriptionId]: call.id };
  const waiting: (() => void)[] = [];
  const extended: ExtensionSubscription[] = [];
  try {
    await subscribeExtensions(call, { opened: extended, hold: (send) => waiting.push(send), meta });
    // What is acknowledged is heard of, wherever it happens. Nothing is waited for between counting streams and opening one.
    await core.changes.elsewhere?.join();
    if (core.openStreams >= core.limits.listenStreams) {
      throw new ProtocolError(ErrorCode.InternalError, "Too many open subscriptions. Try again later.", {
        status: 503,
      });
    }
    const notifications = Object.assign({}, filter, ...extended.map(({ acknowledged }) => acknowledged)) as JsonObject;
    call.notify(Notification.acknowledged, { _meta: meta, notifications });
    for (const send of waiting) send();
    await streamUntilEnded(call, { filter, meta, missed });
    return { _meta: meta };
  } finally {
    for (const subscription of extended) subscription.end();
  }
}

/** Sends changes until this side ends the stream; rejects when the client does. */
function streamUntilEnded(
  call: Call,
  { filter, meta, missed }: { filter: SubscriptionFilter; meta: JsonObject; missed: Recording },
): Promise<void> {
  const uris = new Set(filter.resourceSubscriptions);
  const wants = (change: Change): boolean => ("uri" in change ? uris.has(change.uri) : wantsList(filter, change.list));
  const deliver = (change: Change): void => {
    const { method, params = {} } = toNotification(change, meta);
    call.notify(method, params);
  };
  return new Promise((resolve, reject) => {
    const leave = call.core.openStream({ wants, deliver, end: () => call.end?.() });
    missed.end();
    for (const change of missed.kept()) if (wants(change)) deliver(change);
    call.end = () => {
      leave();
      // Both texts ask for it: basic/patterns/cancellation for the notification, and subscriptions for the result.
      const reason = "The server ended the subscription.";
      call.notify(Notification.cancelled, { _meta: meta, requestId: call.id, reason });
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

/** Opens the extensions' parts of a stream; what they send at once waits until the stream is acknowledged. */
async function subscribeExtensions(
  call: Call,
  stream: { opened: ExtensionSubscription[]; hold: (send: () => void) => void; meta: JsonObject },
): Promise<void> {
  const { opened, hold, meta } = stream;
  const wanted = call.params.notifications as JsonObject;
  let acknowledged = false;
  hold(() => {
    acknowledged = true;
  });
  const send = (method: string, params: JsonObject): void => {
    const tagged = (): void => call.notify(method, { ...params, _meta: { ...(params._meta as JsonObject), ...meta } });
    if (acknowledged) tagged();
    else hold(tagged);
  };
  for (const extension of call.core.extensions) {
    const subscription = await extension.subscribe?.(wanted, call, send);
    if (subscription) opened.push(subscription);
  }
}

/** What of a filter this server sends at all; the rest is left out of the acknowledgment. */
function honoured(core: ServerCore, wanted: SubscriptionFilter): SubscriptionFilter {
  const { tools, prompts, resources } = core.capabilities();
  const filter: SubscriptionFilter = {};
  if (wanted.toolsListChanged && tools?.listChanged) filter.toolsListChanged = true;
  if (wanted.promptsListChanged && prompts?.listChanged) filter.promptsListChanged = true;
  if (wanted.resourcesListChanged && resources?.listChanged) filter.resourcesListChanged = true;
  if (wanted.resourceSubscriptions && resources?.subscribe) {
    filter.resourceSubscriptions = wanted.resourceSubscriptions;
  }
  return filter;
}
