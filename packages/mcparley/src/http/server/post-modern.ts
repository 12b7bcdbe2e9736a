import { isPromise } from "../../rpc/awaitable.ts";
import type { Classified } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { findRevision } from "../../mcp/revisions/index.ts";
import type { Changes } from "../../server/core/changes.ts";
import { receiveCustom } from "../../server/protocol/custom-notifications.ts";
import { OpenCall } from "../../server/dispatch/open-call.ts";
import { answer } from "../../server/dispatch/dispatch.ts";
import { isModernRequest, openCall } from "../../server/protocol/modern.ts";
import type { HttpRequestHead } from "../exchange.ts";
import { PROTOCOL_VERSION_HEADER } from "../header-names.ts";
import type { EndpointContext, Posted } from "./endpoint-context.ts";
import { findMismatch } from "./mirrored-headers.ts";
import { headerMismatch, noResponses, noStream, shuttingDown } from "./refusal.ts";
import { PostResponse } from "./respond.ts";

type Message = Exclude<Classified, { kind: "invalid" }>;

/** Whether a message is of a modern revision, by its metadata or else by its header. */
export function isModern({ kind, message }: Message, head: HttpRequestHead): boolean {
  if (kind === "request" && isModernRequest(message)) return true;
  return findRevision(head.header(PROTOCOL_VERSION_HEADER))?.kind === "modern";
}

/** Answers a POST of a modern revision. The message and its headers are all that the server knows of the client. */
export function postModern(context: EndpointContext, post: Posted, { kind, message }: Message): Promise<void> | void {
  const { exchange, acceptedTypes, principal, address } = post;
  const { core } = context;
  // MCP defines no notification of a client over HTTP: a client cancels its request by closing the stream.
  if (kind === "notification") {
    receiveCustom(core, message, undefined);
    return exchange.respond(202, {});
  }
  if (kind === "response") throw noResponses();
  const { id } = message;
  const isStream = message.method === Method.listen;
  if (isStream && context.open.isEnding) throw shuttingDown(id);
  if (isStream && !acceptedTypes.events) throw noStream(id);
  const mismatch = findMismatch(core, message, exchange);
  if (mismatch) throw headerMismatch(mismatch, id);

  const response = new PostResponse(context, post);
  const call = openCall(core, message, { link: response, principal, address });
  if (!(call instanceof OpenCall)) return response.finish(call);
  response.begin(call);
  const changesBefore = core.changes.count;
  const reply = answer(call);
  // From here on the stream counts for limits.listenStreams, and no longer as a request.
  if (isStream) exchange.held?.release();
  const { relay, count } = core.changes;
  // A reply that waits for nothing stays without a promise, unless its call changed something.
  const mayHaveChanged = isPromise(reply) || count !== changesBefore;
  return response.settle(relay && mayHaveChanged ? afterChanges(core.changes, changesBefore, reply) : reply);
}

/** Delays a reply until the changes that its call may have made are in the store. Then no crash can lose them. */
async function afterChanges<T>(changes: Changes, countBefore: number, pending: T): Promise<Awaited<T>> {
  const reply = await pending;
  if (changes.count !== countBefore) await changes.relay?.flushed();
  return reply;
}
