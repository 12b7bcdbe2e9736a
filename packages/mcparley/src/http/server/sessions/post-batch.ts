import { ProtocolError } from "../../../rpc/errors.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import { type Classified, type JsonRpcResponse, classify } from "../../../rpc/messages.ts";
import { type Reply, replyToError } from "../../../server/dispatch/reply.ts";
import { answerInSession } from "../../../server/protocol/legacy.ts";
import type { RequestSource } from "../../../server/protocol/modern.ts";
import type { Session } from "../../../server/protocol/session.ts";
import type { LegacyContext, Posted } from "../endpoint-context.ts";
import { type Place, belongingOf, checkVersion, placeOf } from "./find-session.ts";
import { asEvent, eventHeaders } from "../event-stream.ts";
import { HttpRefusal, jsonHeaders } from "../refusal.ts";
import { PostResponse } from "../respond.ts";

/** Answers a POST of several messages (2025-03-26 only, transports, "Sending Messages"). */
export async function postBatch(context: LegacyContext, posted: Posted, batch: readonly unknown[]): Promise<void> {
  const { exchange: head } = posted;
  checkVersion(context.core, head, undefined);
  const place = await placeOf(context, { head, sender: posted, id: undefined });
  checkBatch(place.session, batch);
  const messages = batch.map((value) => classify(value, context.core.limits.idLength));
  if (!messages.some(isAnswered)) {
    for (const message of messages) await receive(place, message);
    return head.respond(202, {});
  }
  head.held?.answer(undefined);
  const requests = messages.flatMap((one) => (one.kind === "request" ? one.message : []));
  const response = new BatchResponse(context, posted, belongingOf(context, place, requests));
  response.wait();
  const replies = await Promise.all(
    messages.map(async (message) => {
      const reply = await take(place, message, {
        link: response,
        principal: posted.principal,
        address: posted.address,
      });
      return reply && !response.sendEarly(reply) ? [reply.message] : [];
    }),
  );
  response.finishBatch(replies.flat());
}

/** The response to a batch: one array, or one event per reply. */
class BatchResponse extends PostResponse {
  /** Sends one reply now if the response is an event stream already. Returns whether it did. */
  sendEarly({ message }: Reply): boolean {
    this.events?.send(this.encoded(message));
    return this.events !== undefined;
  }

  /** Completes the response with the replies that were not sent early. */
  finishBatch(messages: readonly JsonRpcResponse[]): void {
    this.close();
    const encoded = messages.map((message) => this.encoded(message));
    if (this.events) {
      for (const json of encoded) this.events.send(json);
      this.events.end();
    } else if (encoded.length === 0 || !this.accepted.json) {
      this.exchange.respond(200, eventHeaders, encoded.map(asEvent).join(""));
    } else {
      this.exchange.respond(200, jsonHeaders, `[${encoded.join(",")}]`);
    }
  }
}

function isAnswered({ kind }: Classified): boolean {
  return kind === "request" || kind === "invalid";
}

function checkBatch({ revision, core }: Session, { length }: readonly unknown[]): void {
  if (!revision.batches) {
    throw new HttpRefusal(400, "Batches are not part of this revision: send one message at a time.");
  }
  const { batch } = core.limits;
  if (length === 0 || length > batch) {
    throw new HttpRefusal(400, `A batch holds 1 to ${batch} messages; got ${length}.`);
  }
}

/** Handles one message at once, in the order of the batch. Returns the reply of a request. */
async function take(place: Place, message: Classified, source: RequestSource): Promise<Reply | undefined> {
  if (message.kind === "request") {
    const reply = await answerInSession(place.session, message.message, source);
    return place.found?.beforeReply ? place.found.beforeReply(message.message, reply) : reply;
  }
  if (message.kind !== "invalid") return receive(place, message);
  const error = new ProtocolError(ErrorCode.InvalidRequest, `Invalid message: ${message.reason}.`);
  return replyToError(message.id, error, undefined);
}

/** Handles a notification or response. Without sessions there is nothing that it could belong to. */
async function receive({ found }: Place, received: Classified): Promise<undefined> {
  if (received.kind === "notification" || received.kind === "response") await found?.receive(received);
}
