import { connect } from "mcparley/client";
import { afterEach, describe, expect, test } from "vitest";
import { type ForwardProxy, startForwardProxy } from "../support/forward-proxy.ts";
import { type SecureServer, authority, clientCertificate, serveSecurely } from "./served-securely.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(): Promise<{ secure: SecureServer; proxy: ForwardProxy }> {
  const [secure, proxy] = await Promise.all([serveSecurely(), startForwardProxy()]);
  closers.push(
    () => proxy.close(),
    () => secure.close(),
  );
  return { secure, proxy };
}

describe.each(["2026-07-28", "2025-11-25"])("a client of %s through a proxy", (revision) => {
  test("calls a tool of an https server", async () => {
    const { secure, proxy } = await start();
    const connection = { proxy: proxy.url, ca: authority.cert };
    const client = await connect({ url: secure.url, connection }, { revision });
    expect(await client.callTool("greet")).toBe("Good morning.");
    await client.close();
    const { host } = new URL(secure.url);
    expect(new Set(proxy.requests.map(({ method, target }) => `${method} ${target}`))).toEqual(
      new Set([`CONNECT ${host}`]),
    );
  });

  test("receives the changes of a subscription", async () => {
    const { secure, proxy } = await start();
    const connection = { proxy: proxy.url, ca: authority.cert };
    const client = await connect({ url: secure.url, connection }, { revision });
    closers.push(() => client.close());
    let changed!: (change: unknown) => void;
    const change = new Promise((resolve) => (changed = resolve));
    await client.listen({ uris: ["note:1"] }, changed);
    secure.server.resources.updated("note:1");
    expect(await change).toEqual({ kind: "updated", uri: "note:1" });
  });

  test("cancels a call", async () => {
    const { secure, proxy } = await start();
    const connection = { proxy: proxy.url, ca: authority.cert };
    const client = await connect({ url: secure.url, connection }, { revision });
    closers.push(() => client.close());
    const controller = new AbortController();
    const call = client.callTool("wait", {}, { signal: controller.signal });
    await secure.waiting.called;
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "aborted" });
    await secure.waiting.cancelled;
  });
});

test("a client sends its certificate to a server that requires one", async () => {
  const secure = await serveSecurely({ ca: authority.cert, requestCert: true, rejectUnauthorized: true });
  closers.push(() => secure.close());
  const { cert, key } = clientCertificate;
  const url = secure.localUrl;
  const client = await connect({ url, connection: { ca: authority.cert, cert, key } });
  expect(await client.callTool("greet")).toBe("Good morning.");
  await client.close();
  await expect(connect({ url, connection: { ca: authority.cert } })).rejects.toThrow("connection.cert");
});

test.each([
  ["connection.ca contains no certificate", { ca: "no PEM" }],
  ["connection.cert is set without connection.key", { cert: clientCertificate.cert }],
  ['connection.proxy has the protocol "socks5"', { proxy: "socks5://proxy.example" }],
])("connect rejects invalid settings: %s", async (message, connection) => {
  await expect(connect({ url: "https://mcp.example/mcp", connection })).rejects.toMatchObject({
    code: "invalid_target",
    message: expect.stringContaining(message) as string,
  });
});

test("connect rejects a target with fetch and connection", async () => {
  await expect(connect({ url: "https://mcp.example/mcp", connection: {}, fetch })).rejects.toMatchObject({
    code: "invalid_target",
  });
});
