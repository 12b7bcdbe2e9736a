import { systemClock } from "mcparley";
import { wakefulClock } from "../async/wakeful-clock.ts";
import { type Retries, checkTries } from "../model/retries.ts";
import type { HostParts } from "./host-server.ts";

/** Returns how a host repeats requests to models: of a run, or of a server that requested sampling. Each repetition is an event. */
export function modelRetries({ options, clock, events, secrets }: HostParts, server: string | undefined): Retries {
  return {
    maxTries: checkTries(options.modelTries),
    // The program must not end during a delay.
    clock: clock === systemClock ? wakefulClock : clock,
    onRetry: (retry) =>
      events.emit({ type: "retry", server, retry: { ...retry, error: secrets.hideInError(retry.error) } }),
  };
}
