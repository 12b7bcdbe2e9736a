import { expect, vi } from "vitest";
import { type Client, type JsonObject, MetaKey, content, prompt, resource, tool } from "../library.ts";
import { proves } from "../proves.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { type World, discoverResult, initializeResult } from "../world/world.ts";

const icons = [
  { src: "https://example.com/a.png", mimeType: "image/png", sizes: ["48x48", "96x96"], theme: "light" as const },
  { src: "data:image/svg+xml;base64,PHN2Zy8+", sizes: ["any"], theme: "dark" as const },
  { src: "https://example.com/b" },
];
const noted = { name: "note", icons };

/** A definition that has icons wherever there may be some. */
const decorated = {
  icons,
  tools: { t: tool({ icons, call: () => [content.link("r://1", noted)] }) },
  prompts: { p: prompt({ icons, get: () => content.user(content.link("r://1", noted)) }) },
  resources: {
    r: resource("r://1", { icons, read: () => "" }),
    many: resource("r://{id}/x", { icons, read: () => "" }),
  },
};

/** All entries with icons that a server of the definition sends. */
async function saidOf(world: World, peer: RawPeer): Promise<unknown[]> {
  const listed = async (method: string, member: string): Promise<unknown> => {
    const { result } = await peer.request(method);
    return (result[member] as unknown[])[0];
  };
  const info = world.isModern
    ? ((await peer.request("server/discover")).result._meta as JsonObject)[MetaKey.serverInfo]
    : peer.opened?.serverInfo;
  const called = (await peer.request("tools/call", { name: "t" })).result.content as unknown[];
  const got = (await peer.request("prompts/get", { name: "p" })).result.messages as { content: unknown }[];
  return [
    info,
    await listed("tools/list", "tools"),
    await listed("prompts/list", "prompts"),
    await listed("resources/list", "resources"),
    await listed("resources/templates/list", "resourceTemplates"),
    called[0],
    got[0]?.content,
  ];
}

proves("icons.attached", async (world) => {
  const said = await saidOf(world, await world.serve(decorated));
  expect(said.length).toBe(7);
  for (const thing of said) expect((thing as { icons?: unknown[] }).icons).toHaveLength(3);
});

proves("icons.attached.client", async (world) => {
  const info = { name: "mine", version: "1.0.0", icons };
  const { server } = await world.connect({ info });
  const [{ params }] = server.received as [RawMessage];
  const sent = world.isModern ? (params._meta as JsonObject)[MetaKey.clientInfo] : params.clientInfo;
  expect(sent).toEqual(info);
});

/** Each list that a client can ask for, with an entry of it. */
const lists: [string, string, JsonObject, (client: Client) => Promise<unknown[]>][] = [
  ["tools/list", "tools", { name: "a", inputSchema: { type: "object" } }, (client) => client.listTools().all()],
  ["prompts/list", "prompts", { name: "a" }, (client) => client.listPrompts().all()],
  ["resources/list", "resources", { name: "a", uri: "r://1" }, (client) => client.listResources().all()],
  [
    "resources/templates/list",
    "resourceTemplates",
    { name: "a", uriTemplate: "r://{id}" },
    (client) => client.listResourceTemplates().all(),
  ],
];

/** The icons that a client returns: those of its server, and those of each kind of entry. */
async function readBy(
  world: World,
  given: unknown,
  url = "https://example.com/mcp",
): Promise<{ read: unknown[]; errors: Error[] }> {
  const errors: Error[] = [];
  const serverInfo = { name: "scripted", version: "1.0.0", icons: given };
  const answers = {
    initialize: () => ({ ...initializeResult(world.version), serverInfo }),
    "server/discover": () => ({ ...discoverResult([world.version]), _meta: { [MetaKey.serverInfo]: serverInfo } }),
  };
  const { client, server } = await world.connect(
    { onError: (error) => errors.push(error) },
    { answers, http: { url } },
  );
  const read: unknown[] = [client.server.info?.icons];
  for (const [method, member, entry, list] of lists) {
    const listing = list(client);
    server.answer(await server.request(method), { [member]: [{ ...entry, icons: given }, entry] });
    const [found, plain] = await listing;
    expect(plain).toEqual(entry);
    expect(found).toMatchObject(entry);
    read.push((found as JsonObject).icons);
  }
  return { read, errors };
}

proves("icons.members", {
  async server(world) {
    for (const thing of await saidOf(world, await world.serve(decorated))) expect(thing).toMatchObject({ icons });
  },
  async client(world) {
    const { read, errors } = await readBy(world, icons);
    expect(read).toEqual([icons, icons, icons, icons, icons]);
    expect(errors).toEqual([]);
  },
});

proves("icons.older-fields", async (world) => {
  const peer = await world.serve(decorated);
  await saidOf(world, peer);
  expect(peer.received.length).toBeGreaterThanOrEqual(7);
  expect(JSON.stringify(peer.received)).not.toContain("icons");
});

const unsafe = [
  "javascript:alert(1)",
  " javascript:alert(1)",
  "file:///etc/passwd",
  "ftp://example.com/a.png",
  "ws://example.com/a.png",
  "vscode://settings",
  "http://example.com/a.png",
  "http://localhost.example.com/a.png",
  "/a.png",
];
const safe = ["https://example.com/a.png", "data:image/png;base64,AAAA"];
const at = (src: unknown): { src: unknown } => ({ src });

proves("icons.scheme", async (world) => {
  const { read, errors } = await readBy(world, [...unsafe, ...safe].map(at));
  expect(read).toEqual(read.map(() => safe.map(at)));
  const listed = errors.filter(({ message }) => message.includes("neither https nor data"));
  expect(listed.length).toBe(unsafe.length * lists.length);
});

proves("icons.same-origin", async (world) => {
  const elsewhere = [
    "https://cdn.example.com/a.png",
    "https://example.com:8443/a.png",
    "https://example.com.evil.example/a.png",
    "http://localhost:3000/a.png",
  ];
  const { read, errors } = await readBy(world, [...elsewhere, ...safe].map(at));
  // A server on a stream has no origin, so its icons are checked for their scheme alone.
  const kept = world.isHttp ? safe : [...elsewhere, ...safe];
  expect(read).toEqual(read.map(() => kept.map(at)));
  const listed = errors.filter(({ message }) => message.includes("is not of the origin https://example.com"));
  expect(listed.length).toBe(world.isHttp ? elsewhere.length * lists.length : 0);
  const local = [at("http://localhost:3000/a.png")];
  const atHome = await readBy(world, local, "http://localhost:3000/mcp");
  expect(atHome.read).toEqual(atHome.read.map(() => local));
});

proves("icons.untrusted", async (world) => {
  const odd = [
    null,
    7,
    "https://example.com/a.png",
    [],
    {},
    at(7),
    at(null),
    at(""),
    at(`https://${"x".repeat(300)} `),
  ];
  const { read } = await readBy(world, [...odd, ...safe.map(at)]);
  for (const found of read as unknown[][]) expect(found.slice(-safe.length)).toEqual(safe.map(at));
  for (const found of read as unknown[][]) expect(found.length).toBeLessThanOrEqual(safe.length + 1);
});

proves("icons.not-fetched", async (world) => {
  const spy = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("nothing is to be fetched"));
  try {
    const { read } = await readBy(world, icons);
    expect(read).toHaveLength(5);
    expect(spy).not.toHaveBeenCalled();
  } finally {
    spy.mockRestore();
  }
});
