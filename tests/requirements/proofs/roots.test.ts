import { expect } from "vitest";
import { prompt, resource, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { notificationCount } from "../world/changes.ts";
import { isRequest } from "../../support/raw-message.ts";
import { offeredTo } from "../world/offers.ts";
import { ask, askedBy, askedByTool, expectRefused } from "../world/questions.ts";
import { rooted, textOf } from "../world/subjects.ts";

const method = "roots/list";
const home = { uri: "file:///home/ann" };
const work = { uri: "file:///work/a%20b", name: "Work" };
const capabilities = { roots: {} };

proves("roots.capability.declared", async (world) => {
  for (const roots of [[], [home], () => [home]]) {
    expect(offeredTo((await world.connect({ roots })).server)).toHaveProperty("roots");
  }
});

proves("roots.capability.list-changed", async (world) => {
  const { server } = await world.connect({ roots: [home] });
  expect(offeredTo(server).roots).toEqual({ listChanged: true });
});

proves("roots.capability.absent", async (world) => {
  const played = await world.connect();
  expect(offeredTo(played.server)).not.toHaveProperty("roots");
  expectRefused(await ask(world, played, method), -32601);
});

proves("roots.capability.respected", async (world) => {
  const peer = await world.serve({ tools: { rooted } }, { capabilities: { sampling: {}, elicitation: {} } });
  const { error } = await peer.request("tools/call", { name: "rooted" });
  expect(error.message).toContain("roots");
  expect(peer.received.filter(isRequest)).toEqual([]);
});

proves("roots.list.requested", async (world) => {
  const definition = {
    tools: { rooted },
    prompts: { p: prompt({ get: async (_, { roots }) => JSON.stringify(await roots()) }) },
    resources: { r: resource("r://1", { read: async (_, { roots }) => JSON.stringify(await roots()) }) },
  };
  for (const [name, params] of [
    ["tools/call", { name: "rooted" }],
    ["prompts/get", { name: "p" }],
    ["resources/read", { uri: "r://1" }],
  ] as const) {
    const peer = await world.serve(definition, { capabilities });
    const asked = await askedBy(world, peer, name, params);
    expect(asked.method).toBe(method);
    expect(JSON.stringify((await asked.answer({ roots: [home] })).result)).toContain(home.uri);
  }
});

proves("roots.list.answered", async (world) => {
  let now = [home];
  const played = await world.connect({ roots: () => now });
  expect((await ask(world, played, method)).result).toEqual({ roots: [home] });
  now = [];
  expect((await ask(world, played, method)).result).toEqual({ roots: [] });
  const fixed = await world.connect({ roots: [home, work] });
  expect((await ask(world, fixed, method)).result).toEqual({ roots: [home, work] });
});

proves("roots.root.name", async (world) => {
  const played = await world.connect({ roots: [work, home] });
  const { roots } = (await ask(world, played, method)).result as { roots: { name?: string }[] };
  expect(roots.map(({ name }) => name)).toEqual(["Work", undefined]);
});

proves("roots.root.file", async (world) => {
  for (const uri of ["https://example.com/", "/home/ann", "file:home", "data:,x", "", 7]) {
    const errors: Error[] = [];
    const onError = (error: Error): void => void errors.push(error);
    const played = await world.connect({ roots: [home, { uri: uri as string }], onError });
    const { result, error, failure } = await ask(world, played, method);
    expect(result).toBeUndefined();
    if (world.isModern) expect(failure).toMatchObject({ code: "invalid_result" });
    else {
      expect(error?.code).toBe(-32603);
      expect(errors).toMatchObject([{ code: "invalid_result" }]);
    }
  }
});

proves("roots.root.traversal", async (world) => {
  for (const path of [
    "/../etc",
    "/./a",
    "/a/..",
    "/%2e%2e/etc",
    "/a/%2E./b",
    "%2f..%2fetc",
    "\\..\\etc",
    "%5c..%5cetc",
  ]) {
    const played = await world.connect({ roots: [{ uri: `file:///home${path}` }], onError: () => {} });
    const { result, error, failure } = await ask(world, played, method);
    expect(result).toBeUndefined();
    if (world.isModern) expect(failure).toMatchObject({ code: "invalid_result" });
    else expect(error?.code).toBe(-32603);
  }
  const dotted = { uri: "file:///home/.config/a..b/...c" };
  expect((await ask(world, await world.connect({ roots: [dotted] }), method)).result).toEqual({ roots: [dotted] });
});

proves("roots.changed.sent", async (world) => {
  const { client, server } = await world.connect({ roots: [home] });
  await client.rootsChanged();
  expect(await server.notification("notifications/roots/list_changed")).toBeDefined();
});

proves("roots.changed.not-sent", async (world) => {
  const { client, server } = await world.connect({ roots: [home] });
  await client.rootsChanged();
  expect((await ask(world, { client, server }, method)).result).toEqual({ roots: [home] });
  expect(server.received.map((message) => message.method)).not.toContain("notifications/roots/list_changed");
});

proves("roots.changed.handled", async (world) => {
  let changes = 0;
  const peer = await world.serve({ tools: { rooted }, onRootsChanged: () => changes++ }, { capabilities });
  const before = await askedByTool(world, peer, "rooted");
  expect(textOf(await before.answer({ roots: [home] }))).toBe(home.uri);
  peer.notify("notifications/roots/list_changed");
  await peer.settled();
  expect(changes).toBe(1);
  const after = await askedByTool(world, peer, "rooted");
  expect(textOf(await after.answer({ roots: [work] }))).toBe(work.uri);
});

const broken = (): never => {
  throw new Error("the disk /dev/sda1 is gone");
};

proves("roots.error.internal", async (world) => {
  const errors: string[] = [];
  const played = await world.connect({ roots: broken, onError: ({ message }) => errors.push(message) });
  expect((await ask(world, played, method)).error).toEqual({ code: -32603, message: "Internal error" });
  expect(errors).toEqual(["the disk /dev/sda1 is gone"]);
});

proves("roots.error.not-replayed", async (world) => {
  const played = await world.connect({ roots: broken });
  const { failure } = await ask(world, played, method);
  expect(failure).toMatchObject({ message: "the disk /dev/sda1 is gone" });
  expect(played.server.received.map((message) => message.method)).toEqual(["server/discover", "prompts/get"]);
});

proves("roots.unavailable", async (world) => {
  const peer = await world.serve({ tools: { rooted } }, { capabilities });
  const answer = async (roots: unknown): ReturnType<typeof peer.request> =>
    (await askedByTool(world, peer, "rooted")).answer({ roots });
  expect(textOf(await answer([]))).toBe("");
  expect(textOf(await answer([null, "x", { name: "no URI" }, home]))).toBe(home.uri);
  for (const nonsense of [undefined, null, "x", {}]) {
    const { result } = await answer(nonsense);
    if (world.isModern) expect(result.resultType).toBe("input_required");
    else expect(result).toMatchObject({ isError: true });
  }
  expect(textOf(await answer([work]))).toBe(work.uri);
});

proves("roots.refused", async (world) => {
  const without = tool({
    call: (_, { roots }) =>
      roots().then(
        () => "with roots",
        (error: Error) => `without: ${error.message}`,
      ),
  });
  const peer = await world.serve({ tools: { without } }, { capabilities });
  const id = peer.start("tools/call", { name: "without" });
  peer.refuse(await peer.nextRequest(method), { code: -32603, message: "none for you" });
  const answered = `The client answered ${method} with -32603: none for you`;
  expect(textOf(await peer.response(id))).toBe(`without: ${answered}`);
  expect(await notificationCount(peer, "notifications/cancelled")).toBe(0);
});
