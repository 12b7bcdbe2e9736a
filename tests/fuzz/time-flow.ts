import type { FakeClock } from "../../packages/mcparley/src/testing/fake-clock.ts";

/** Lets the time of a clock run fast until it is ended, so that waiting for a peer that stays silent is soon over. */
export function timeFlow(clock: FakeClock): { end(): void } {
  const flow = { flows: true };
  void (async () => {
    while (flow.flows) await clock.advance(60_000);
  })();
  return { end: () => void (flow.flows = false) };
}
