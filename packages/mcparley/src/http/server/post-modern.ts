import { after } from "../../rpc/awaitable.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { Classified } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { findRevision } from "../../mcp/revisions/index.ts";
import type { Changes } from "../../server/changes.ts";
import { answerModern, isModernRequest } from "../../server/protocol/modern.ts";
import { Answering } from "./answering.ts";
import type { EndpointContext, Posted } from "./endpoint-context.ts";
import type { RequestHead } from "../exchange.ts";
import { PROTOCOL_VERSION_HEADER } from "../header-names.ts";
import { findMismatch } from "./mirrored-headers.ts";
import { HttpRefusal, shuttingDown } from "./refusal.ts";

type Message = Exclude<Classified, { kind: "invalid" }>;

/** Whether a message is of a modern revision: by what it carries, or else by its header. */
export function isModern({ kind, message }: Message, head: RequestHead): boolean {
  if (kind === "request" && isModernRequest(message)) return true;
  return findRevision(head.header(PROTOCOL_VERSION_HEADER))?.era === "modern";
}

/** Answers a POST of a modern revision, for which the message and its headers are all there is. */
export function postModern(context: EndpointContext, posted: Posted, { kind, message }: Message): Promise<void> | void {
  const { exchange } = posted;
  // No notification of a client has a meaning over HTTP: closing the stream is what cancels a request.
  if (kind === "notification") return exchange.respond(202, {});
  if (kind === "response") {
    throw new HttpRefusal(400, "This revision has no responses of clients: retry the request with inputResponses.");
  }
  const isStream = message.method === Method.listen;
  if (isStream && context.open.isEnding) throw shuttingDown(message.id);
  if (isStream && !posted.accepted.events) {
    throw new HttpRefusal(406, "A subscription is an event stream: send Accept: text/event-stream.", {
      id: message.id,
    });
  }
  const mismatch = findMismatch(context.core, message, exchange);
  if (mismatch !== undefined) {
    throw new HttpRefusal(400, mismatch, { code: ErrorCode.HeaderMismatch, id: message.id });
  }
  const answering = new Answering(context, posted);
  const { changes } = context.core;
  const before = changes.count;
  const reply = answerModern(context.core, message, answering);
  // From now on the stream counts for limits.listenStreams, and no longer as a request.
  if (isStream) exchange.held?.release();
  return answering.settle(
    // What changed meanwhile may be this request's doing, and is not to be lost once that is answered.
    changes.elsewhere ? after(reply, (ready) => (changes.count === before ? ready : told(changes, ready))) : reply,
  );
}

async function told<T>({ elsewhere }: Changes, reply: T): Promise<T> {
  await elsewhere?.told();
  return reply;
}
