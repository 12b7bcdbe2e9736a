import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import { type HttpTarget, connect } from "mcparley/client";
import type { FetchHandler } from "mcparley/http";
import type { Server } from "mcparley/server";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { extractSamples } from "./extract-samples.ts";

/*
 * Uses the servers of docs/servers/cookbook.md. The samples contain no assertions, so they stand here.
 */

const folder = fileURLToPath(new URL("../types/.generated/cookbook/", import.meta.url));
const used = new Set<string>();
let names: string[];

beforeAll(() => {
  names = extractSamples("docs/servers/cookbook.md", folder).map(({ file }) =>
    file.slice(folder.length).replace(/^.*[/\\]/, ""),
  );
});

afterEach(() => {
  vi.restoreAllMocks();
});

async function recipe<T = unknown>(name: string): Promise<T & { server: Server; handler: FetchHandler }> {
  used.add(name);
  return import(/* @vite-ignore */ `${folder}docs/servers/cookbook/${name}`);
}

/** A target that calls the handler of a recipe with an API key, without a port. */
function over(handler: FetchHandler, key: string): HttpTarget {
  return {
    url: "http://localhost/mcp",
    headers: { authorization: `Bearer ${key}` },
    fetch: (input, init) => handler.fetch(new Request(input, init)),
  };
}

/** Answers requests of `fetch` by their URL. */
function stubFetch(answer: (url: string, init: RequestInit) => Response | Promise<Response>): void {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init = {}) => answer(input as string, init));
}

test("hello.ts greets", async () => {
  const { server } = await recipe("hello.ts");
  const client = await connect(server);
  expect(await client.callTool("hello")).toBe("Hello");
  await client.close();
});

test("rest-api.ts maps the responses of an API", async () => {
  const { server } = await recipe("rest-api.ts");
  const client = await connect(server);
  vi.spyOn(console, "error").mockImplementation(() => {});
  stubFetch((url) => {
    if (url.endsWith("/1")) return Response.json({ status: "paid", total: 9.5, internal: true });
    return new Response(null, { status: url.endsWith("/2") ? 404 : 500 });
  });
  expect(await client.callTool("order", { number: "1" })).toEqual({ number: "1", status: "paid", total: 9.5 });
  await expect(client.callTool("order", { number: "2" })).rejects.toThrow("Order 2 does not exist.");
  await expect(client.callTool("order", { number: "3" })).rejects.toThrow("Internal error");
  await expect(client.callTool("order", { number: "../admin" })).rejects.toMatchObject({ code: "tool_error" });
  await client.close();
});

test("image.ts returns an image and a text", async () => {
  const { server } = await recipe("image.ts");
  const client = await connect(server);
  const { content } = await client.callToolResult("bars", { values: [10, 20] });
  expect(content).toMatchObject([
    { type: "image", mimeType: "image/svg+xml" },
    { type: "text", text: "2 bars" },
  ]);
  await client.close();
});

test("pages.ts returns all entries in three pages", async () => {
  const { server } = await recipe("pages.ts");
  const client = await connect(server);
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.callTool("entries", cursor === undefined ? {} : { cursor });
    sizes.push(page.entries.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(sizes).toEqual([100, 100, 50]);
  await client.close();
});

test("progress.ts reports each document", async () => {
  const { server } = await recipe("progress.ts");
  const client = await connect(server);
  const messages: (string | undefined)[] = [];
  const onProgress = ({ message }: { message?: string }): void => void messages.push(message);
  expect(await client.callTool("index", { documents: ["a", "b"] }, { onProgress })).toBe("Indexed 2 documents.");
  expect(messages).toEqual(["Reading a", "Reading b"]);
  await client.close();
});

test("cancel.ts aborts its request", async () => {
  const { server } = await recipe("cancel.ts");
  const client = await connect(server);
  const controller = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    stubFetch((_, { signal }) => {
      const pending = new Promise<Response>((_resolve, reject) => {
        signal!.addEventListener("abort", () => {
          resolve();
          reject(signal!.reason);
        });
      });
      controller.abort();
      return pending;
    });
  });
  const call = client.callTool("summary", { id: crypto.randomUUID() }, { signal: controller.signal });
  await expect(call).rejects.toMatchObject({ code: "aborted" });
  await aborted;
  await client.close();
});

test("confirm.ts deletes only after the name was typed", async () => {
  const { server } = await recipe("confirm.ts");
  const answers = [{ action: "decline" as const }, accepted("atlantis"), accepted("atlas")];
  const client = await connect(server, { elicit: () => answers.shift()! });
  expect(await client.callTool("remove", { name: "atlas" })).toBe("Nothing was deleted.");
  expect(await client.callTool("remove", { name: "atlas" })).toBe("The name does not match. Nothing was deleted.");
  expect(await client.callTool("remove", { name: "atlas" })).toBe('Deleted "atlas".');
  await expect(client.callTool("remove", { name: "atlas" })).rejects.toThrow("does not exist");
  await client.close();
});

function accepted(confirm: string): { action: "accept"; content: Record<string, string> } {
  return { action: "accept", content: { confirm } };
}

test("users.ts separates the notes of users", async () => {
  const { handler } = await recipe("users.ts");
  const alice = await connect(over(handler, "key-of-alice-for-tests"));
  const bob = await connect(over(handler, "key-of-bob-for-tests"));
  await alice.callTool("add", { text: "Call Ada." });
  expect(await alice.callTool("list")).toBe("Buy milk.\nCall Ada.");
  expect(await bob.callTool("list")).toBe("No notes.");
  await expect(bob.callTool("add", { text: "x" })).rejects.toMatchObject({ code: "unauthorized" });
  await Promise.all([alice.close(), bob.close()]);
});

test("cache.ts is read once until it changes", async () => {
  const { server, onRates } = await recipe<{ onRates: (rates: object) => void }>("cache.ts");
  const client = await connect(server);
  const changes = new EventEmitter();
  const updated = once(changes, "change");
  await client.listen({ uris: ["rates://current"] }, () => changes.emit("change"));
  const before = await client.readResource("rates://current");
  expect(before).toMatchObject({ contents: [{ text: '{"EUR":1,"NOK":11.7}' }] });
  onRates({ EUR: 1, NOK: 12 });
  await updated;
  expect(await client.readResource("rates://current")).toMatchObject({ contents: [{ text: '{"EUR":1,"NOK":12}' }] });
  await client.close();
});

test("download.ts returns a link that can be read", async () => {
  const { server } = await recipe("download.ts");
  const client = await connect(server);
  const { content } = await client.callToolResult("create", { year: 2026 });
  expect(content).toMatchObject([
    { type: "text" },
    { type: "resource_link", uri: "report://2026", name: "report-2026.csv" },
  ]);
  const { contents } = await client.readResource("report://2026");
  expect((contents[0] as { text: string }).text.split("\n")).toHaveLength(13);
  await expect(client.readResource("report://1999")).rejects.toMatchObject({ code: -32602 });
  await client.close();
});

test("upload.ts stores bytes and refuses text that is not base64", async () => {
  const { server } = await recipe("upload.ts");
  const client = await connect(server);
  const stored = await client.callTool("upload", { name: "a.txt", data: Buffer.from("abc").toString("base64") });
  expect(stored).toMatchObject({ bytes: 3 });
  await expect(client.callTool("upload", { name: "a.txt", data: "?" })).rejects.toMatchObject({ code: "tool_error" });
  await client.close();
});

test("upstream.ts calls the other server, and passes its error on", async () => {
  const { server } = await recipe("upstream.ts");
  stubFetch((url) =>
    url.endsWith("/1") ? Response.json({ status: "paid", total: 1 }) : new Response(null, { status: 404 }),
  );
  const client = await connect(server);
  expect(await client.callTool("isPaid", { number: "1" })).toEqual({ paid: true });
  await expect(client.callTool("isPaid", { number: "2" })).rejects.toThrow("Order 2 does not exist.");
  await client.close();
});

test("idempotency.ts sends a payment once for each key", async () => {
  const { server } = await recipe("idempotency.ts");
  const client = await connect(server);
  const pay = (key: string): Promise<unknown> => client.callTool("pay", { invoice: "7", key });
  expect(await pay("key-0001")).toBe("Payment key-0001 was sent. Payments so far: 1.");
  expect(await pay("key-0001")).toBe("Payment key-0001 was already sent.");
  expect(await pay("key-0002")).toBe("Payment key-0002 was sent. Payments so far: 2.");
  await client.close();
});

test("rate-limit.ts limits each key alone", async () => {
  const { handler } = await recipe("rate-limit.ts");
  const ci = await connect(over(handler, "key-of-ci-for-tests"));
  const dashboard = await connect(over(handler, "key-of-dashboard-for-tests"));
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => ci.callTool("search")));
  expect(outcomes.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
  expect(await dashboard.callTool("search")).toBe("No results.");
  await Promise.all([ci.close(), dashboard.close()]);
});

test("logs.ts writes a line of JSON for each call", async () => {
  const { server, lines } = await recipe<{ lines: string[] }>("logs.ts");
  const client = await connect(server);
  await client.callTool("status");
  await client.close();
  const records = lines.map((line) => JSON.parse(line) as object);
  expect(records).toContainEqual(
    expect.objectContaining({ msg: "call", name: "status", outcome: "ok", service: "status" }),
  );
});

test("each recipe is used by a test above", () => {
  expect([...used].toSorted()).toEqual(names.toSorted());
});
