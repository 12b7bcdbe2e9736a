import { systemClock } from "mcparley";
import { wakefulClock } from "../async/timing.ts";
import { type Retries, checkTries } from "../model/retries.ts";
import { type StreamModel, streamModel } from "../model/stream-model.ts";
import type { HostParts } from "./host-parts.ts";

/**
 * Returns the function that sends the requests of a host to models: of a run, or of a server that requested sampling. Each repetition of
 * a request is an event. Neither a request nor an error contains a secret.
 */
export function modelStream(
  { options, clock, events, secrets: { withoutSecrets } }: HostParts,
  server: string | undefined,
): StreamModel {
  const retries: Retries = {
    maxTries: checkTries(options.modelTries),
    // The program must not end during a delay.
    clock: clock === systemClock ? wakefulClock : clock,
    onRetry: (retry) => events.emit({ type: "retry", server, retry }),
  };
  return async function* stream(model, request) {
    try {
      yield* streamModel(model, withoutSecrets(request), retries);
    } catch (error) {
      throw withoutSecrets(error);
    }
  };
}
