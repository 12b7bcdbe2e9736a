import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversation, type Exchange } from "./conversation.ts";
import { openStage, type Stage } from "./stage.ts";
import type { TransportName } from "./targets.ts";

const legacy = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const modern = "2026-07-28";
const transports: readonly TransportName[] = ["memory", "stdio", "http"];

/** HTTP+SSE has no modern revision. */
const combinations = [
  ...[...legacy, modern].flatMap((revision) => transports.map((transport) => ({ revision, transport }))),
  ...legacy.map((revision) => ({ revision, transport: "http+sse" as const })),
];

/** Returns the value of an exchange on a revision. Revisions are dates, so that their order is that of the texts. */
function expectedOn(revision: string, { expected, lacking = [] }: Exchange): unknown {
  const found = lacking.find(({ upTo }) => revision <= upTo);
  return found ? found.expected : expected;
}

describe.each(combinations)("a host with a server of $revision over $transport", ({ revision, transport }) => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage(revision, transport);
  });
  afterAll(() => stage.close());

  test("uses the revision", () => {
    const server = stage.host.servers.get("workshop");
    expect([server?.state, server?.info?.revision]).toEqual(["ready", revision]);
  });

  test.each(conversation)("$name", async (exchange) => {
    expect(await exchange.run(stage)).toEqual(expectedOn(revision, exchange));
  });

  test("reports no error", () => {
    expect(stage.events.filter(({ type }) => type === "error")).toEqual([]);
  });
});

test("a host reports that a server over HTTP+SSE has no modern revision", async () => {
  const { host, close } = await openStage(modern, "http+sse");
  const server = host.servers.get("workshop");
  expect([server?.state, server?.error?.message]).toEqual([
    "failed",
    expect.stringContaining("does not support 2026-07-28"),
  ]);
  await close();
});
