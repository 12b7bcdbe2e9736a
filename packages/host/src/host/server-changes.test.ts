import type { InProcessServer } from "mcparley/client";
import { type Server, createServer, tool } from "mcparley/server";
import { flushPromises } from "mcparley/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ReviewRequest } from "../renderer/renderer.ts";
import { createHost } from "./create-host.ts";
import type { Host, HostOptions } from "./host.ts";

/** Returns a server with one tool, which answers with the name of the server. */
function serverNamed(name: string, instructions?: string): Server {
  return createServer({
    name,
    version: "1.0.0",
    ...(instructions !== undefined && { instructions }),
    tools: { who: tool({ description: "Returns the name of the server.", call: () => name }) },
  });
}

/** Returns a server whose next connection can be one to another server. */
function exchangeable(first: Server): InProcessServer & { current: Server } {
  const server = { current: first, attach: (...args: Parameters<Server["attach"]>) => server.current.attach(...args) };
  return server;
}

const accepting: HostOptions = { folder: false, policy: { review: "changes", rules: [{ decision: "allow" }] } };

/** Waits until a condition holds that depends on promises and not on time. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await flushPromises();
}

const toolNames = (host: Host): string[] => host.catalogue.tools.map(({ name }) => name);

test("asks for denied definitions again after a reconnect, also if the lists are the same", async () => {
  const requests: ReviewRequest[] = [];
  await using host = await createHost({
    folder: false,
    servers: { a: serverNamed("a") },
    renderer: {
      review(request) {
        requests.push(request);
        return { accepted: requests.length === 1 ? [] : "all" };
      },
    },
  });
  expect((await host.ready()).tools).toEqual([]);
  await host.servers.get("a")!.reconnect();
  expect((await host.ready()).tools).toHaveLength(1);
  expect(requests).toHaveLength(2);
});

test("reviews the instructions of a new connection, also if the lists are the same", async () => {
  const server = exchangeable(serverNamed("a", "Old."));
  const requests: ReviewRequest[] = [];
  await using host = await createHost({
    ...accepting,
    servers: { a: server },
    renderer: {
      review(request) {
        requests.push(request);
        return { accepted: "all" };
      },
    },
  });
  await host.ready();
  server.current = serverNamed("a", "New.");
  await host.servers.get("a")!.reconnect();
  await host.ready();
  expect(requests.flatMap(({ changes }) => changes).map(({ kind, current }) => [kind, current])).toEqual([
    ["instructions", "New."],
  ]);
});

test("withdraws the question for a call whose server is replaced, and calls neither server", async () => {
  let asked: AbortSignal | undefined;
  await using host = await createHost({
    folder: false,
    policy: { review: "changes" },
    servers: { a: serverNamed("first") },
    renderer: {
      approve: (_request, signal) => {
        asked = signal;
        return new Promise(() => {});
      },
    },
  });
  await host.ready();
  const calling = host.callTool("a__who", {});
  await until(() => asked !== undefined);
  await host.add("a", serverNamed("second"));
  expect(await calling).toMatchObject({ status: "denied", message: expect.stringMatching(/removed/) as string });
  expect(asked?.aborted).toBe(true);
});

test("an entry that cannot be used does not replace a server", async () => {
  await using host = await createHost({ ...accepting, servers: { a: serverNamed("a") } });
  await host.ready();
  await expect(host.add("a", "ftp://example.com")).rejects.toMatchObject({ code: "invalid_target" });
  await expect(host.add("a", { target: serverNamed("b"), inputLimits: { samplesPerCall: -1 } })).rejects.toThrow(
    RangeError,
  );
  expect(await host.callTool("a__who", {})).toMatchObject({ status: "result" });
});

test("of two servers that are added with one name at once, the first one is closed", async () => {
  await using host = await createHost(accepting);
  const [first, second] = await Promise.all([host.add("a", serverNamed("b")), host.add("a", serverNamed("c"))]);
  await expect(first.connect()).rejects.toMatchObject({ code: "closed" });
  await second.connect();
  expect(host.servers.get("a")).toBe(second);
});

test("the tools of a removed server leave the catalogue at once, and do not return when it is enabled", async () => {
  await using host = await createHost({ ...accepting, servers: { a: serverNamed("a") } });
  await host.ready();
  const server = host.servers.get("a")!;
  const removing = host.remove("a");
  expect(toolNames(host)).toEqual([]);
  await removing;
  await server.disable();
  server.enable();
  await flushPromises();
  expect(toolNames(host)).toEqual([]);
});

test("refuses runs and conversations after close, which can be called again", async () => {
  const host = await createHost(accepting);
  await Promise.all([host.close(), host.close()]);
  expect(() => host.run({ messages: [] })).toThrow(/closed/);
  expect(() => host.conversation()).toThrow(/closed/);
  await expect(host.callTool("a__who", {})).rejects.toThrow();
  await expect(host.add("a", serverNamed("a"))).rejects.toMatchObject({ code: "closed" });
  expect((await host.ready()).tools).toEqual([]);
});

test("an error of a listener for the activity of a call does not change the call", async () => {
  const server = createServer({
    name: "a",
    version: "1.0.0",
    tools: {
      work: tool({
        description: "Asks for a name.",
        call: async (_input, ctx) =>
          (await ctx.elicit({ message: "Name?", schema: z.object({ name: z.string() }) })).name,
      }),
    },
  });
  const form = () => ({ action: "accept", content: { name: "Ada" } }) as const;
  await using host = await createHost({ ...accepting, servers: { a: server }, renderer: { form } });
  await host.ready();
  const onActivity = (): void => {
    throw new Error("The listener failed.");
  };
  expect(await host.callTool("a__work", {}, { onActivity })).toMatchObject({
    result: { content: [{ text: "Ada" }] },
  });
});
