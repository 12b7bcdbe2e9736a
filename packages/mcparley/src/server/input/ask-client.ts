import type { Asking } from "./input-channel.ts";
import type { Call, Link } from "../dispatch/call.ts";
import { DirectAsking } from "./by-request.ts";
import { Replay } from "./by-replay.ts";

/** Makes the way in which a call asks its client: by requests in a session, by the call's own result without one. */
export async function askClient(call: Call, link: Link): Promise<Asking> {
  return call.session ? new DirectAsking(call, call.session, link) : Replay.of(call);
}
