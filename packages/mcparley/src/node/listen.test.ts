import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Endpoint } from "../http/server/endpoint.ts";
import { LocalError } from "../rpc/errors.ts";
import { tool } from "../server/definition.ts";
import { createServer } from "../server/create-server.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { rawHttp } from "mcparley-tests/support/raw-http.ts";
import { type ListenOptions, type RunningHttpServer, listen } from "./listen.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

const server = createServer({ name: "test", version: "1.0.0", tools: { hello: tool({ call: () => "hello" }) } });

async function serve(options: Partial<ListenOptions> = {}): Promise<RunningHttpServer> {
  const listening = await listen(server, { port: 0, ...options });
  closers.push(listening.close);
  return listening;
}

/** The status of a request with headers that `fetch` would not send. */
function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", path: "/mcp", method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end("{");
  });
}

test("a server listens on loopback at /mcp, and returns its URL", async () => {
  const { url, port } = await serve();
  expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
  const answer = await rawHttp(url, fetch).modern("tools/call", { name: "hello" });
  expect(answer.headers.get("content-length")).not.toBeNull();
  expect((await answer.json()).result.content).toEqual([{ type: "text", text: "hello" }]);
});

test("another path and another loopback address can be configured", async () => {
  const listening = await serve({ host: "localhost", path: "/" });
  expect(listening.url).toBe(`http://localhost:${listening.port}/`);
  expect((await rawHttp(listening.url, fetch).modern("tools/list")).status).toBe(200);
});

describe("over a socket", () => {
  const json = { "content-type": "application/json" };

  test("a foreign Host or Origin is refused before the body is read", async () => {
    const { port } = await serve();
    expect(await statusOf(port, { ...json, host: "evil.example" })).toBe(403);
    expect(await statusOf(port, { ...json, host: `localhost:${port}`, origin: "https://evil.example" })).toBe(403);
    expect(await statusOf(port, { ...json, host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(400);
    expect(await statusOf(port, { ...json, host: `127.0.0.1:${port}` })).toBe(400);
  });

  test("a server for other machines answers loopback names and its allowed hosts", async () => {
    const { url, port } = await serve({ host: "0.0.0.0", allowedHosts: ["mcp.example.com"] });
    expect(url).toBe(`http://localhost:${port}/mcp`);
    expect(await statusOf(port, { ...json, host: "localhost" })).toBe(400);
    expect(await statusOf(port, { ...json, host: "mcp.example.com" })).toBe(400);
    expect(await statusOf(port, { ...json, host: "other.example.com" })).toBe(403);
  });
});

describe("a server that cannot listen", () => {
  test("reports that its port is in use", async () => {
    const { port } = await serve();
    const error = await listen(server, { port }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LocalError);
    expect(error).toMatchObject({ code: "address_unavailable" });
    expect((error as LocalError).message).toContain(`Port ${port} of 127.0.0.1 is in use`);
    expect((error as LocalError).cause).toMatchObject({ code: "EADDRINUSE" });
  });

  test("reports that its address is not one of this machine", async () => {
    await expect(listen(server, { port: 0, host: "203.0.113.1" })).rejects.toThrow('no address "203.0.113.1"');
  });

  test("closes its endpoint", async () => {
    const { port } = await serve();
    const close = vi.spyOn(Endpoint.prototype, "close");
    try {
      await expect(listen(server, { port })).rejects.toThrow("is in use");
      expect(close).toHaveBeenCalledTimes(1);
    } finally {
      close.mockRestore();
    }
  });
});

describe("closing", () => {
  test("frees the port in spite of open connections, and may be called twice", async () => {
    const { url, port, close } = await serve();
    await (await rawHttp(url, fetch).modern("tools/list")).text();
    const silent = connect(port, "127.0.0.1");
    silent.on("error", () => {});
    await new Promise<void>((resolve) => silent.once("connect", resolve));
    // Without timers, `close` cannot wait for the timeout of responses that are not completely sent.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    await Promise.all([close(), close()]).finally(() => vi.useRealTimers());
    silent.destroy();
    await serve({ port });
  });

  test("sends a large response completely", async () => {
    const large = gate();
    const slow = createServer({ name: "test", version: "1.0.0", tools: { large: tool(large) } });
    const { url, close } = await listen(slow, { port: 0 });
    const answering = rawHttp(url, fetch).modern("tools/call", { name: "large" });
    await large.entered;
    const closing = close();
    large.open("x".repeat(8_000_000));
    const { result } = await (await answering).json();
    const [block] = result.content as { text: string }[];
    expect(block?.text).toHaveLength(8_000_000);
    await closing;
  });
});
