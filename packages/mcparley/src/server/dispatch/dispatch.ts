import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import type { Run } from "../input/asking.ts";
import type { Call } from "./call.ts";
import { InputRequired } from "../input/input-required.ts";

/** Runs a handler to the result of its call, whichever way it asks. */
export function settle(call: Call, run: Run): Awaitable<JsonObject | Prepared> {
  let returned: ReturnType<Run>;
  try {
    returned = run();
  } catch (error) {
    if (!call.startedAsking) throw error;
    returned = Promise.reject(error);
  }
  if (isPromise(returned) || returned instanceof InputRequired || call.startedAsking) {
    return settleLater(call, returned, run);
  }
  return returned;
}

async function settleLater(call: Call, returned: ReturnType<Run>, run: Run): Promise<JsonObject | Prepared> {
  let result: Awaited<ReturnType<Run>>;
  try {
    result = await returned;
  } catch (error) {
    // An error that is meant for the client, such as a capability that one of several questions lacks, outweighs them.
    if (error instanceof ProtocolError) throw error;
    const questions = await (await call.startedAsking)?.interrupted();
    if (questions) return questions;
    throw error;
  }
  if (result instanceof InputRequired) return (await call.asking).goOn(result, run);
  const { startedAsking } = call;
  return startedAsking ? ((await (await startedAsking).interrupted()) ?? result) : result;
}
