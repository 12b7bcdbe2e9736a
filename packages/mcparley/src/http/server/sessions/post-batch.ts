import { ProtocolError } from "../../../rpc/errors.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import { readMessage } from "../../../mcp/read-message.ts";
import { type Classified, type JsonRpcResponse } from "../../../rpc/messages.ts";
import type { Reply } from "../../../server/core/call.ts";
import { replyToError } from "../../../server/dispatch/reply.ts";
import { answerInSession, batchProblem } from "../../../server/protocol/legacy.ts";
import type { RequestSource } from "../../../server/protocol/modern.ts";
import type { LegacyContext, Posted } from "../endpoint-context.ts";
import { checkVersion, sessionOf } from "./find-session.ts";
import { asEvent, eventHeaders } from "../event-stream.ts";
import type { HttpSession, OneWayMessage } from "./http-session.ts";
import { HttpRefusal, jsonHeaders } from "../refusal.ts";
import { PostResponse } from "../respond.ts";

/** Answers a POST of several messages (2025-03-26 only, transports, "Sending Messages"). */
export async function postBatch(context: LegacyContext, post: Posted, batch: readonly unknown[]): Promise<void> {
  const { core, resumption } = context;
  const { exchange: head, principal, address } = post;
  checkVersion(core, head, undefined);
  const httpSession = await sessionOf(context, { head, sender: post, id: undefined });
  const { session } = httpSession;
  const problem = batchProblem(session, batch.length);
  if (problem !== undefined) throw new HttpRefusal(400, problem);

  const messages = batch.map((value) => readMessage(value, core.limits.idLength));
  const oneWay = messages.filter(isOneWay);
  if (oneWay.length === messages.length) {
    for (const message of oneWay) await httpSession.receive(message);
    return head.respond(202, {});
  }
  head.held?.answer(undefined);
  const requests = messages.flatMap((one) => (one.kind === "request" ? one.message : []));
  const stream = resumption?.replyStream(httpSession, requests);
  const response = new BatchResponse(context, post, { session, stream });
  response.wait();
  const replies = await Promise.all(
    messages.map(async (message) => {
      const reply = await handle(httpSession, message, { link: response, principal, address });
      return reply && !response.sendEarly(reply) ? [reply.message] : [];
    }),
  );
  response.finishBatch(replies.flat());
}

function isOneWay(message: Classified): message is OneWayMessage {
  return message.kind === "notification" || message.kind === "response";
}

/** Handles one message of a batch. Returns the reply, if the message has one. */
async function handle(
  httpSession: HttpSession,
  message: Classified,
  source: RequestSource,
): Promise<Reply | undefined> {
  if (message.kind === "request") {
    const reply = answerInSession(httpSession.session, message.message, source);
    return httpSession.beforeReply(message.message, reply);
  }
  if (message.kind === "invalid") {
    const error = new ProtocolError(ErrorCode.InvalidRequest, `Invalid message: ${message.reason}.`);
    return replyToError(message.id, error, undefined);
  }
  await httpSession.receive(message);
  return undefined;
}

/** The response to a batch: one array, or one event per reply. */
class BatchResponse extends PostResponse {
  /** Sends one reply now if the response is an event stream already. Returns whether it did. */
  sendEarly({ message }: Reply): boolean {
    this.events?.send(this.encodeMessage(message));
    return this.events !== undefined;
  }

  /** Completes the response with the replies that were not sent early. */
  finishBatch(messages: readonly JsonRpcResponse[]): void {
    this.close();
    const texts = messages.map((message) => this.encodeMessage(message));
    if (this.events) {
      for (const json of texts) this.events.send(json);
      this.events.end();
    } else if (texts.length === 0 || !this.acceptedTypes.json) {
      this.exchange.respond(200, eventHeaders, texts.map(asEvent).join(""));
    } else {
      this.exchange.respond(200, jsonHeaders, `[${texts.join(",")}]`);
    }
  }
}
