import { expect, test } from "vitest";
import { flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { openClient } from "../open-client.ts";

async function connected(version: string, options: object = {}) {
  const errors: Error[] = [];
  const peer = version === "2026-07-28" ? modernPeer() : legacyPeer({ version });
  const client = await openClient(peerTransports(peer), {
    revision: version,
    onError: (error: Error) => errors.push(error),
    ...options,
  });
  if (version !== "2026-07-28") await peer.notification("notifications/initialized");
  return { client, peer, errors };
}

test.each(["2024-11-05", "2025-11-25", "2026-07-28"])(
  "the host receives custom notifications of a %s server in order, and no notifications of MCP",
  async (version) => {
    const seen: unknown[] = [];
    const onNotification = async (message: unknown): Promise<void> => {
      for (let turn = 5 - seen.length; turn > 0; turn--) await Promise.resolve();
      seen.push(message);
    };
    const { peer, errors } = await connected(version, { onNotification });
    for (let n = 0; n < 3; n++) peer.notify("com.example/n", { n, _meta: { a: 1 } });
    peer.notify("notifications/example");
    for (const method of ["notifications/tools/list_changed", "notifications/tasks/status", "notifications/message"])
      peer.notify(method, { level: "info", data: "" });
    await flushPromises();
    const params = [0, 1, 2].map((n) => ({ method: "com.example/n", params: { n, _meta: { a: 1 } } }));
    expect(seen).toEqual([...params, { method: "notifications/example", params: {} }]);
    expect(errors).toEqual([]);
  },
);

test("at most 100 notifications wait for the handler, and the loss of the others is reported once", async () => {
  let open!: () => void;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let count = 0;
  const { peer, errors } = await connected("2025-11-25", { onNotification: () => gate.then(() => count++) });
  for (let n = 0; n < 1000; n++) peer.notify("com.example/n", { n });
  await flushPromises();
  expect(errors).toMatchObject([{ code: "too_large" }]);
  open();
  await flushPromises();
  expect(count).toBe(101);
});

test("an error of the handler is reported, and the next notification is handled", async () => {
  let count = 0;
  const onNotification = (): never => {
    throw new Error(`broken ${++count}`);
  };
  const { peer, errors } = await connected("2025-11-25", { onNotification });
  peer.notify("com.example/a");
  peer.notify("com.example/b");
  await flushPromises();
  expect(errors.map(({ message }) => message)).toEqual(["broken 1", "broken 2"]);
});

test("a client sends custom notifications, and refuses names that MCP reserves", async () => {
  const { client, peer } = await connected("2025-11-25");
  await client.notify("com.example/a", { a: 1 });
  expect(await peer.notification("com.example/a")).toMatchObject({ params: { a: 1 } });
  for (const method of ["", "notifications/cancelled", "notifications/initialized", "ping", "rpc.x"]) {
    await expect(client.notify(method), method).rejects.toThrow(TypeError);
  }
  await expect(client.notify("com.example/a", [] as never)).rejects.toThrow(TypeError);
  await flushPromises();
  expect(peer.arrived.filter(({ message }) => "method" in message && !("id" in message)).length).toBe(2);
});
