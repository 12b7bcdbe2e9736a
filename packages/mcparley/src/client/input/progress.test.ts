import { expect, test } from "vitest";
import type { Progress } from "../../mcp/progress.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import type { Context } from "../../server/core/context.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { legacyPeer, peerTransports } from "../../testing/peer-transports.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../open-client.ts";
import type { InputRequestSource, ConnectOptions } from "../options.ts";

const answer = { action: "accept" as const, content: {} };
const sampled = { role: "assistant" as const, model: "m", content: { type: "text" as const, text: "yo" } };
const schema = { type: "object", properties: {} };

/** A server whose tool sends an input request with a time limit of 10 s, and the progress that it receives. */
function asking(ask: (ctx: Context, onProgress: (progress: Progress) => void) => Promise<unknown>) {
  const clock = fakeClock();
  const reported: Progress[] = [];
  const errors: unknown[] = [];
  const call = async (_: unknown, ctx: Context): Promise<string> => {
    await ask(ctx, (progress) => {
      reported.push(progress);
      if (progress.message === "fail") throw new Error("broken");
    });
    return "answered";
  };
  const server = createServer({
    name: "s",
    version: "1",
    clock,
    limits: { askTimeout: 10_000 },
    onError: (error: unknown) => errors.push(error),
    tools: { t: tool({ call }) },
  });
  const connect = (revision: string, options: ConnectOptions) =>
    openClient(serverTransports(server), { revision, clock, ...options });
  return { clock, reported, errors, connect };
}

/** Reports progress three times, each time just before the limit, and then answers. */
async function slowly({ progress }: InputRequestSource, clock: ReturnType<typeof fakeClock>): Promise<void> {
  const pause = (): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, 9_000));
  for (const [index, message] of ["one", "two", "fail"].entries()) {
    await pause();
    progress(index + 1, 3, message);
    // Ignored, because the progress has not increased.
    progress(index + 1, 3, "again");
    progress(Number.NaN);
  }
  await pause();
}

const kinds = {
  form: (ctx: Context, onProgress: (progress: Progress) => void) => ctx.elicit({ message: "?", schema, onProgress }),
  url: (ctx: Context, onProgress: (progress: Progress) => void) =>
    ctx.elicit({ message: "?", url: "https://example.com/", onProgress }),
  sample: (ctx: Context, onProgress: (progress: Progress) => void) =>
    ctx.sample({ messages: [], maxTokens: 1, onProgress }),
};

for (const [name, ask] of Object.entries(kinds)) {
  const versions = { form: ["2025-06-18", "2025-11-25"], url: ["2025-11-25"], sample: ["2024-11-05", "2025-11-25"] };
  test.each(versions[name as keyof typeof versions])(
    `progress on a request (${name}) restarts its time limit and reaches the handler on %s`,
    async (revision) => {
      const { clock, reported, errors, connect } = asking(ask);
      const client = await connect(revision, {
        elicit: async (_, source) => {
          await slowly(source, clock);
          return answer;
        },
        sample: async (_, source) => {
          await slowly(source, clock);
          return sampled;
        },
      });
      const calling = client.callTool("t");
      await clock.advance(40_000);
      expect(await calling).toBe("answered");
      const hasMessage = revision !== "2024-11-05";
      expect(reported).toMatchObject([1, 2, 3].map((progress) => ({ progress, total: 3 })));
      if (hasMessage) expect(reported.map(({ message }) => message)).toEqual(["one", "two", "fail"]);
      expect(errors.length).toBe(1);
      await client.close();
    },
  );
}

test("without progress the request ends after its time limit", async () => {
  const { clock, connect } = asking(kinds.form);
  const client = await connect("2025-11-25", { elicit: () => new Promise(() => {}) });
  const failed = client.callTool("t").catch((error: unknown) => error);
  await clock.advance(10_000);
  expect(await failed).toBeInstanceOf(Error);
  await client.close();
});

test("progress of a handler has no effect on a modern revision", async () => {
  const { connect, reported } = asking(kinds.form);
  const client = await connect("2026-07-28", {
    elicit: (_, source) => {
      source.progress(1);
      return answer;
    },
  });
  expect(await client.callTool("t")).toBe("answered");
  expect(reported).toEqual([]);
  await client.close();
});

test("no progress is sent without a progress token, or after the request has ended", async () => {
  const sources: InputRequestSource[] = [];
  const elicit: ConnectOptions["elicit"] = (_, source) => {
    sources.push(source);
    return new Promise(() => {});
  };
  const peer = legacyPeer();
  const client = await openClient(peerTransports(peer), { revision: "2025-11-25", elicit });
  await peer.notification("notifications/initialized");
  peer.ask(1, "elicitation/create", { message: "?", requestedSchema: schema });
  await expect.poll(() => sources.length).toBe(1);
  sources[0]?.progress(1);
  peer.notify("notifications/cancelled", { requestId: 1 });
  peer.ask(2, "elicitation/create", { message: "?", requestedSchema: schema, _meta: { progressToken: "p" } });
  await expect.poll(() => sources.length).toBe(2);
  peer.notify("notifications/cancelled", { requestId: 2 });
  sources[1]?.progress(1);
  const reports = peer.arrived.filter(({ message }) => "method" in message && message.method.endsWith("/progress"));
  expect(reports).toEqual([]);
  await client.close();
});
