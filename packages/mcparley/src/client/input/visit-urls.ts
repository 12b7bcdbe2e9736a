import { Cancelled, Declined, LocalError, type ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { link, pause } from "../../rpc/abort.ts";
import type { Call, ClientCore } from "../calls/call.ts";

/**
 * Sends the person to the URLs without which a call cannot be answered, one after another, and waits until the server
 * says that all visits are complete, for as long as the call has time.
 */
export async function visitUrls(core: ClientCore, call: Call, refused: ProtocolError): Promise<void> {
  const wanted = readVisits(refused);
  const questions = await core.questions();
  const linked = link(call.options.signal, core.closing);
  // Expected before anybody is asked, since a visit may be complete before the last question is answered.
  const visits = Promise.all(wanted.map(({ elicitationId }) => core.visits.expect(elicitationId)));
  try {
    for (const params of wanted) {
      const { action } = await questions.elicit({ ...params }, core.asker(call.what, linked.signal));
      if (action === "decline") throw new Declined();
      if (action === "cancel") throw new Cancelled();
    }
    const since = core.clock.now();
    const isDone = await Promise.race([
      visits.then(() => true),
      pause(core.clock, Math.min(call.left, 2 ** 31 - 1), linked.signal).then(() => false),
    ]);
    call.left -= core.clock.now() - since;
    if (!isDone) throw new LocalError("timeout", `${call.what}: the server did not say that the visit is complete.`);
  } finally {
    linked.abort(undefined);
    linked.unlink();
    for (const { elicitationId } of wanted) core.visits.forget(elicitationId);
  }
}

type Visit = JsonObject & { elicitationId: string };

function readVisits(refused: ProtocolError): Visit[] {
  const wanted = isObject(refused.data) ? refused.data.elicitations : undefined;
  const isReadable =
    Array.isArray(wanted) &&
    wanted.length > 0 &&
    wanted.length <= 100 &&
    wanted.every((visit) => isObject(visit) && visit.mode === "url" && typeof visit.elicitationId === "string");
  if (!isReadable) throw refused;
  return wanted as Visit[];
}
