import { ErrorCode, ProtocolError } from "../jsonrpc/errors.ts";
import { type Classified, classify } from "../jsonrpc/messages.ts";
import { type Reply, replyToError } from "../server/answer.ts";
import { answerInSession, notified } from "../server/legacy.ts";
import type { Session } from "../server/session.ts";
import { Answering } from "./answering.ts";
import type { LegacyContext, Posted } from "./endpoint-context.ts";
import { belongingOf, checkVersion } from "./find-session.ts";
import { HttpRefusal } from "./refusal.ts";

/** Answers a POST of several messages, which one revision has (2025-03-26, transports, "Sending Messages"). */
export async function postBatch(context: LegacyContext, posted: Posted, batch: readonly unknown[]): Promise<void> {
  const { exchange: head, principal } = posted;
  checkVersion(head, undefined);
  const belonging = belongingOf(context, { head, principal, id: undefined });
  const { session } = belonging;
  checkBatch(session, batch);
  const messages = batch.map(classify);
  if (!messages.some(isAnswered)) {
    for (const message of messages) hear(session, message);
    return head.respond(202, {});
  }
  const answering = new Answering(context, posted, belonging);
  const replies = await Promise.all(
    messages.map(async (message) => {
      const reply = await take(session, message, answering);
      return reply && !answering.sendEarly(reply) ? [reply.message] : [];
    }),
  );
  answering.finishBatch(replies.flat());
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

/** Takes one message, with effect at once, and gives what is to be sent back. */
async function take(session: Session, message: Classified, answering: Answering): Promise<Reply | undefined> {
  if (message.kind === "request") return answerInSession(session, message.message, answering);
  if (message.kind !== "invalid") return hear(session, message);
  const error = new ProtocolError(ErrorCode.InvalidRequest, `Invalid message: ${message.reason}.`);
  return replyToError(message.id, error, undefined);
}

/** Takes a message that is not answered. */
function hear(session: Session, heard: Classified): undefined {
  if (heard.kind === "notification") notified(session, heard.message);
  else if (heard.kind === "response") session.answered(heard.message);
}
