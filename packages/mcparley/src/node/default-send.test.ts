import { once } from "node:events";
import { type IncomingHttpHeaders, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { defaultSend } from "./default-send.ts";

const dispatchers = [Symbol.for("undici.globalDispatcher.1"), Symbol.for("undici.globalDispatcher.2")];
const globals = globalThis as Record<symbol, unknown>;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Sends a request to a server that closes after it. Returns its headers: only `fetch` sends `sec-fetch-mode`. */
async function headersOfRequest(): Promise<IncomingHttpHeaders> {
  let headers: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    headers = request.headers;
    response.writeHead(200, { connection: "close" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await (await defaultSend(url, { method: "POST", headers: {}, body: "{}" })).text();
  return headers;
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
