import { fakeClock } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import type { DecisionRecord } from "../../../packages/host/src/consent/policy.ts";
import type { HostEvent } from "../../../packages/host/src/host/host.ts";
import type { Renderer } from "../../../packages/host/src/renderer/renderer.ts";
import { scriptedModel, textStep } from "../../../packages/host/src/testing/scripted-model.ts";
import { type EndlessKind, endlessRequests } from "../hostile/servers/endless-requests.ts";
import { faultHost, revisions } from "./fault-host.ts";

const renderer: Renderer = {
  form: () => ({ action: "accept", content: { name: "Ada" } }),
  url: () => ({ action: "accept" }),
  sample: () => ({ action: "allow" }),
  sampled: () => ({ action: "allow" }),
};

function decisions(events: readonly HostEvent[]): DecisionRecord[] {
  return events.flatMap((event) => (event.type === "decision" ? [event.decision] : []));
}

describe.each(revisions)("a server that requests input without an end in a call (%s)", (revision) => {
  test.each<EndlessKind>(["form", "url", "sampling", "roots"])(
    "%s: the call ends, and the audit has the limit",
    async (kind) => {
      const model = scriptedModel(Array.from({ length: 100 }, () => textStep("Answer.")));
      const server = endlessRequests(kind);
      const roots = [{ uri: "file:///home/ann" }];
      await using fault = await faultHost(server, { revision, renderer, model, roots, clock: fakeClock() });
      const outcome = await fault.host.callTool("bad__ask", {});
      expect(outcome).toMatchObject({ status: "failed", mayHaveRun: true });
      expect(server.sent).toBeLessThan(100);
      expect(model.requests.length).toBeLessThanOrEqual(10);
      const limited = decisions(fault.events).filter(({ by }) => by === "limit");
      expect(limited.length).toBeGreaterThan(0);
      expect(limited[0]).toMatchObject({ server: "bad", outcome: "denied" });
      expect(await fault.ping()).toBe("pong");
    },
  );
});
