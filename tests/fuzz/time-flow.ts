import type { FakeClock } from "../../packages/mcparley/src/testing/fake-clock.ts";

/** Advances a clock quickly until it is stopped, so that timeouts of a silent peer elapse soon. */
export function timeFlow(clock: FakeClock): { end(): void } {
  const flow = { flows: true };
  void (async () => {
    while (flow.flows) await clock.advance(60_000);
  })();
  return { end: () => void (flow.flows = false) };
}
