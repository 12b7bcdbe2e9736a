import { once } from "node:events";
import { type IncomingHttpHeaders, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { sendingFor as sendingForWeb } from "../http/client/default-send.ts";
import { LocalError } from "../rpc/errors.ts";
import { sendingFor } from "./default-send.ts";

const { send: defaultSend } = sendingFor({ url: "http://127.0.0.1/" });
const dispatchers = [Symbol.for("undici.globalDispatcher.1"), Symbol.for("undici.globalDispatcher.2")];
const globals = globalThis as Record<symbol, unknown>;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Starts a server that closes the connection after each request, and records the headers. */
async function serveOnce(): Promise<[seen: { headers: IncomingHttpHeaders }, url: URL]> {
  const seen = { headers: {} };
  const server = createServer((request, response) => {
    seen.headers = request.headers;
    response.writeHead(200, { connection: "close" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  return [seen, new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)];
}

/** Returns the headers of a request. Only `fetch` sends `sec-fetch-mode`. */
async function headersOfRequest(): Promise<IncomingHttpHeaders> {
  const [seen, url] = await serveOnce();
  await (await defaultSend(url, { method: "POST", headers: {}, body: "{}" })).text();
  return seen.headers;
}

/** Sets the dispatcher of this Node until the end of the test. */
function setDispatcher(make: (current: object) => object): void {
  // The dispatcher exists once a class of `fetch` was used.
  expect(new Headers()).toBeDefined();
  const name = dispatchers.find((one) => globals[one] !== undefined) as symbol;
  const current = globals[name] as object;
  closers.push(() => (globals[name] = current));
  globals[name] = make(current);
}

type AgentClass = new (options?: { connect: object }) => object;

describe("on Node", () => {
  test("requests are sent without fetch", async () => {
    expect(await headersOfRequest()).not.toHaveProperty("sec-fetch-mode");
  });

  test("a fetch that replaces the global one is used", async () => {
    const response = new Response("stub");
    vi.stubGlobal("fetch", () => Promise.resolve(response));
    closers.push(() => vi.unstubAllGlobals());
    expect(await defaultSend(new URL("http://127.0.0.1:1/"), {})).toBe(response);
  });

  test("a dispatcher of the program is used, for example one for a proxy", async () => {
    setDispatcher((current) => {
      class ProxyAgent {
        dispatch = (...args: unknown[]): unknown =>
          (current as { dispatch: (...args: unknown[]) => unknown }).dispatch(...args);
      }
      return new ProxyAgent();
    });
    expect(await headersOfRequest()).toHaveProperty("sec-fetch-mode");
  });

  test("an agent of the program with connection options is used, for example with a certificate", async () => {
    setDispatcher((current) => new (current.constructor as AgentClass)({ connect: { keepAlive: false } }));
    expect(await headersOfRequest()).toHaveProperty("sec-fetch-mode");
  });

  test("an agent that interceptors wrap is used", async () => {
    setDispatcher((current) => new Proxy(current, {}));
    expect(await headersOfRequest()).toHaveProperty("sec-fetch-mode");
  });

  test("an agent without connection options is like the one of Node", async () => {
    setDispatcher((current) => new (current.constructor as AgentClass)());
    expect(await headersOfRequest()).not.toHaveProperty("sec-fetch-mode");
  });
});

describe("a target with connection settings", () => {
  const url = "http://127.0.0.1/";

  test("is refused if it has a fetch too", () => {
    expect(() => sendingFor({ url, connection: {}, fetch })).toThrow(LocalError);
    expect(() => sendingFor({ url, connection: {}, fetch })).toThrow("Omit one of them");
    expect(sendingFor({ url, fetch }).send).toBe(fetch);
  });

  test("does not use the replaced fetch or dispatcher", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new Error("The global fetch was called.")));
    closers.push(() => vi.unstubAllGlobals());
    const [seen, at] = await serveOnce();
    await (await sendingFor({ url, connection: { proxy: false } }).send(at, { headers: {} })).text();
    expect(seen.headers).toMatchObject({ "user-agent": "node" });
  });

  test("is refused on other runtimes", () => {
    expect(() => sendingForWeb({ url, connection: {} })).toThrow(LocalError);
    expect(() => sendingForWeb({ url, connection: {} })).toThrow("connection works only on Node. Omit it.");
    expect(sendingForWeb({ url, fetch }).send).toBe(fetch);
  });
});
