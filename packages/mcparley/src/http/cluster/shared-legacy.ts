import { reaching } from "../../store/reaching.ts";
import type { EndpointContext, LegacyContext, Sharing } from "../endpoint-context.ts";
import type { EventOptions, SessionOptions } from "../options.ts";
import { Resumption } from "../resumption.ts";
import { SharedSessions } from "./shared-sessions.ts";

/** Makes what the legacy revisions share where a store keeps it: their sessions, and the events of their streams. */
export async function shareLegacy(
  context: EndpointContext,
  { store: given, changes }: Sharing,
  options: { limits: SessionOptions; events: EventOptions | undefined },
): Promise<LegacyContext> {
  const store = reaching(given);
  const sessions = new SharedSessions({
    core: context.core,
    store,
    changes: await changes(),
    options: options.limits,
    carried: (session, stream) => resumption.carried(session, stream),
  });
  const resumption = new Resumption(context, sessions.node, options.events);
  return { ...context, sessions, resumption };
}
