import { reaching } from "../store/reaching.ts";
import type { EndpointContext, Sharing } from "../http/server/endpoint-context.ts";
import { LegacyEndpoint } from "../http/server/sessions/legacy-endpoint.ts";
import type { EventOptions, SessionOptions } from "../http/server/options.ts";
import { Resumption } from "./resumption.ts";
import { refuseUnavailable } from "./refuse-unavailable.ts";
import { SharedSessions } from "./shared-sessions.ts";

/** The legacy revisions at an endpoint that shares its sessions: where the store is out of reach, none can be served. */
class SharedLegacyEndpoint extends LegacyEndpoint {
  override post(...given: Parameters<LegacyEndpoint["post"]>): Promise<void> {
    return refuseUnavailable(async () => super.post(...given));
  }

  override postBatch(...given: Parameters<LegacyEndpoint["postBatch"]>): Promise<void> {
    return refuseUnavailable(() => super.postBatch(...given));
  }

  override get(...given: Parameters<LegacyEndpoint["get"]>): Promise<void> {
    return refuseUnavailable(() => super.get(...given));
  }

  override delete(...given: Parameters<LegacyEndpoint["delete"]>): Promise<void> {
    return refuseUnavailable(() => super.delete(...given));
  }
}

/** Makes the legacy side of an endpoint whose sessions, and the events of whose streams, are kept in a store. */
export async function shareLegacy(
  context: EndpointContext,
  { store: given, changes }: Sharing,
  options: { limits: SessionOptions; events: EventOptions | undefined },
): Promise<LegacyEndpoint> {
  const store = reaching(given);
  const sessions = new SharedSessions({
    core: context.core,
    store,
    changes: await changes(),
    options: options.limits,
    carried: (session, stream) => resumption.carried(session, stream),
  });
  const resumption = new Resumption(context, sessions.node, options.events);
  return new SharedLegacyEndpoint({ ...context, sessions, resumption });
}
