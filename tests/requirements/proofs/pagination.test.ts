import { expect } from "vitest";
import { type JsonObject, prompt, resource, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { entriesOf } from "../world/lists.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import type { World } from "../world/world.ts";

const t = tool({ call: () => "" });
const p = prompt({ get: () => "" });
const letters = ["a", "b", "c", "d", "e"];
const each = <T>(make: (name: string) => T): Record<string, T> =>
  Object.fromEntries(letters.map((name) => [name, make(name)]));

const offered = {
  tools: each(() => t),
  prompts: each(() => p),
  resources: {
    ...each((name) => resource(`note://${name}`, { read: () => "" })),
    ...Object.fromEntries(letters.map((name) => [`${name}s`, resource(`${name}:{id}`, { read: () => "" })])),
  },
};

const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

const serve = (world: World, pageSize = 2): Promise<RawPeer> => world.serve({ ...offered, limits: { pageSize } });

interface Page {
  names: unknown[];
  cursor: string | undefined;
}

async function page(peer: RawPeer, method: string, cursor?: string): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor };
  const { result } = await peer.request(method, params);
  const entries = Object.values(result).find((member) => Array.isArray(member)) as JsonObject[];
  return { names: entries.map(({ name }) => name), cursor: result.nextCursor as string | undefined };
}

async function pages(peer: RawPeer, method: string): Promise<Page[]> {
  const all = [await page(peer, method)];
  for (let last = all[0]; last?.cursor !== undefined; last = all.at(-1))
    all.push(await page(peer, method, last.cursor));
  return all;
}

proves("pagination.next-cursor", async (world) => {
  const sizes = [1, 2, 4, 5, 6];
  const numbers = [5, 3, 2, 1, 1];
  for (const [index, size] of sizes.entries()) {
    expect((await pages(await serve(world, size), "tools/list")).length).toBe(numbers[index]);
  }
});

proves("pagination.continues", async (world) => {
  const found = await pages(await serve(world), "tools/list");
  expect(found.map(({ names }) => names)).toEqual([["a", "b"], ["c", "d"], ["e"]]);
});

proves("pagination.operations", async (world) => {
  const peer = await serve(world);
  for (const method of lists) {
    const found = await pages(peer, method);
    expect(found.map(({ names }) => names.length)).toEqual([2, 2, 1]);
    const whole = method === "resources/templates/list" ? letters.map((name) => `${name}s`) : letters;
    expect(found.flatMap(({ names }) => names)).toEqual(whole);
  }
});

proves("pagination.page-size", async (world) => {
  for (const size of [1, 3]) expect((await page(await serve(world, size), "tools/list")).names.length).toBe(size);
  const { result } = await (await serve(world, 3)).request("tools/list", { pageSize: 1, limit: 1 });
  expect((result.tools as unknown[]).length).toBe(3);
});

proves("pagination.opaque", async (world) => {
  const peer = await serve(world);
  for (const method of lists) {
    for (const { cursor } of (await pages(peer, method)).slice(0, -1)) {
      expect(typeof cursor).toBe("string");
      for (const name of letters) expect(cursor).not.toBe(name);
    }
  }
});

proves("pagination.stable", async (world) => {
  const peer = await serve(world);
  const first = await page(peer, "tools/list");
  const second = await page(peer, "tools/list", first.cursor);
  expect(await page(peer, "tools/list", first.cursor)).toEqual(second);
  world.server.tools.delete("a");
  world.server.tools.delete("c");
  world.server.tools.set("f", t);
  world.server.tools.set("b", t);
  const rest = await page(peer, "tools/list", first.cursor);
  expect(rest.names).toEqual(["d", "e"]);
  expect((await page(peer, "tools/list", rest.cursor)).names).toEqual(["f"]);
});

proves("pagination.invalid", async (world) => {
  const peer = await serve(world);
  for (const method of lists) {
    for (const cursor of ["", "b", "no-such-cursor", "é", btoa("after:x"), btoa("after:-1"), 7, {}]) {
      expect((await peer.request(method, { cursor })).error.code).toBe(-32602);
    }
    expect((await entriesOf(peer, method)).length).toBe(2);
  }
});

/** The entries that a client reads from these pages, and the cursors that it sent. */
async function listed(world: World, results: JsonObject[]): Promise<{ names: string[]; cursors: unknown[] }> {
  const { client, server } = await world.connect();
  const cursors: unknown[] = [];
  const listing = client.listPrompts().all();
  for (const result of results) {
    const request = await server.request("prompts/list");
    cursors.push(request.params.cursor);
    server.answer(request, result);
  }
  return { names: (await listing).map(({ name }) => name), cursors };
}

const prompts = (...names: string[]): JsonObject => ({ prompts: names.map((name) => ({ name })) });

proves("pagination.client.page-size", async (world) => {
  const { names } = await listed(world, [
    { ...prompts("a", "b", "c"), nextCursor: "1" },
    { ...prompts(), nextCursor: "2" },
    { ...prompts("d"), nextCursor: "3" },
    { ...prompts(), nextCursor: "4" },
    prompts("e", "f"),
  ]);
  expect(names).toEqual(["a", "b", "c", "d", "e", "f"]);
});

proves("pagination.client.end", async (world) => {
  const { names, cursors } = await listed(world, [{ ...prompts("a"), nextCursor: "1" }, prompts("b")]);
  expect(names).toEqual(["a", "b"]);
  expect(cursors).toEqual([undefined, "1"]);
});

proves("pagination.client.both-flows", async (world) => {
  expect(await listed(world, [prompts("a", "b")])).toEqual({ names: ["a", "b"], cursors: [undefined] });
  const { names } = await listed(world, [{ ...prompts("a"), nextCursor: "1" }, prompts("b")]);
  expect(names).toEqual(["a", "b"]);
});

proves("pagination.client.opaque", async (world) => {
  const odd = ["0", "null", "eyJwYWdlIjogM30=", " spaces ", "ключ\u2028\u0000", "{}", "x".repeat(5000)];
  const results = odd.map((nextCursor, index) => ({ ...prompts(`p${index}`), nextCursor }));
  const { names, cursors } = await listed(world, [...results, prompts("last")]);
  expect(cursors).toEqual([undefined, ...odd]);
  expect(names.length).toBe(odd.length + 1);
});

proves("pagination.client.not-kept", async (world) => {
  const { client, server } = await world.connect();
  for (const cursor of ["first", "second"]) {
    const iterator = client.listPrompts()[Symbol.asyncIterator]();
    const next = iterator.next();
    const request = await server.request("prompts/list");
    expect(request.params).not.toHaveProperty("cursor");
    server.answer(request, { ...prompts("a"), nextCursor: cursor });
    await next;
    await iterator.return?.();
  }
});

proves("pagination.client.empty-cursor", async (world) => {
  const { names, cursors } = await listed(world, [{ ...prompts("a"), nextCursor: "" }, prompts("b")]);
  expect(names).toEqual(["a", "b"]);
  expect(cursors).toEqual([undefined, ""]);
});
