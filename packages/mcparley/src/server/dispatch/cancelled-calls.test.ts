import { expect, test, vi } from "vitest";
import { serverTransports } from "../../client/connect/transports.ts";
import { openClient } from "../../client/open-client.ts";
import { flushPromises } from "../../testing/fake-clock.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";

test.each(["2026-07-28", "2025-11-25"])("the error of a cancelled call is not reported on %s", async (revision) => {
  const onError = vi.fn<(error: unknown) => void>();
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const wait = tool({
    call: (_, { signal }) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reject(new Error("stopped"));
          stop();
        });
      }),
  });
  const server = createServer({ name: "x", version: "1", tools: { wait }, onError });
  const client = await openClient(serverTransports(server), { revision });
  const controller = new AbortController();
  const calling = client.callTool("wait", {}, { signal: controller.signal });
  await flushPromises();
  controller.abort();
  await expect(calling).rejects.toMatchObject({ code: "aborted" });
  await stopped;
  await client.close();
  await flushPromises();
  expect(onError).not.toHaveBeenCalled();
});

test("the end of a subscription by its client is not reported", async () => {
  const onError = vi.fn<(error: unknown) => void>();
  const server = createServer({ name: "x", version: "1", tools: { a: tool({ call: () => "a" }) }, onError });
  const client = await openClient(serverTransports(server));
  const subscription = await client.listen({ tools: true }, () => {});
  await subscription.close();
  await client.close();
  await flushPromises();
  expect(onError).not.toHaveBeenCalled();
});
