import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { makeCertificate } from "mcparley-tests/support/certificates.ts";
import { startForwardProxy } from "mcparley-tests/support/forward-proxy.ts";
import type { LocalError } from "../rpc/errors.ts";
import { createFetch } from "./create-fetch.ts";

const authority = makeCertificate({ name: "Test authority" });
const certificate = makeCertificate({ name: "server", issuer: authority, hosts: ["llm.example", "localhost"] });

type Proxy = Parameters<typeof startForwardProxy>[0];

async function proxyWith(options?: Proxy) {
  const proxy = await startForwardProxy(options);
  onTestFinished(() => proxy.close());
  return proxy;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Answers with the request: its method, URL, headers and body. */
const echo = (port: (handler: Parameters<typeof createServer>[1]) => Server): Promise<number> =>
  listening(
    port((request, response) => {
      void text(request).then((body) => {
        const { method, url, headers } = request;
        response.writeHead(201, "Made", { "set-cookie": ["a=1", "b=2"], "x-one": "1" });
        response.end(JSON.stringify({ method, url, headers, body }));
      });
    }),
  );
const secureEcho = (): Promise<number> => echo((handler) => createSecureServer(certificate, handler));
const plainEcho = (): Promise<number> => echo((handler) => createServer(handler ?? (() => {})));

const names = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
beforeEach(() => {
  for (const name of names.flatMap((one) => [one, one.toLowerCase()])) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const post = { method: "POST", headers: { "content-type": "application/json", "X-Key": "k" }, body: '{"a":"é"}' };

describe("createFetch", () => {
  test("sends a request, and returns the response with its headers", async () => {
    const port = await plainEcho();
    const response = await createFetch()(`http://127.0.0.1:${port}/v1?a=1`, post);
    expect([response.status, response.statusText, response.ok]).toEqual([201, "Made", true]);
    expect(response.headers.get("x-one")).toBe("1");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.json()).toMatchObject({
      method: "POST",
      url: "/v1?a=1",
      body: '{"a":"é"}',
      headers: { "x-key": "k", "content-length": "10" },
    });
  });

  test("accepts a Request, and a form", async () => {
    const port = await plainEcho();
    const url = `http://127.0.0.1:${port}/`;
    expect(await (await createFetch()(new Request(url, post))).json()).toMatchObject({ body: '{"a":"é"}' });
    const form = new FormData();
    form.set("file", new Blob(["content"]), "a.txt");
    const { headers, body } = (await (await createFetch()(url, { method: "POST", body: form })).json()) as {
      headers: Record<string, string>;
      body: string;
    };
    expect(headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(body).toContain("content");
  });

  test("connects through a tunnel of the proxy of the environment, with its password", async () => {
    const port = await secureEcho();
    const proxy = await proxyWith({ credentials: "me:topsecret" });
    vi.stubEnv("HTTPS_PROXY", `http://me:topsecret@${proxy.host}`);
    const send = createFetch({ ca: authority.cert });
    const response = await send(`https://llm.example:${port}/v1`, post);
    expect(await response.json()).toMatchObject({ url: "/v1", body: '{"a":"é"}' });
    expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([`CONNECT llm.example:${port}`]);
  });

  test("connects directly to hosts of NO_PROXY, and to this machine", async () => {
    const port = await plainEcho();
    const proxy = await proxyWith();
    vi.stubEnv("HTTP_PROXY", proxy.url);
    expect((await createFetch()(`http://127.0.0.1:${port}/`)).status).toBe(201);
    expect(proxy.requests).toEqual([]);
    expect((await createFetch()(`http://llm.example:${port}/`)).status).toBe(201);
    expect(proxy.requests).toHaveLength(1);
    vi.stubEnv("NO_PROXY", ".invalid");
    await expect(createFetch({})(`http://llm.invalid:${port}/`)).rejects.toThrow();
    expect(proxy.requests).toHaveLength(1);
  });

  test.each([
    ["the password is wrong", { credentials: "me:other" }],
    ["the proxy refuses the host", { credentials: "me:topsecret", refuse: () => 403 }],
  ])("rejects without the password if %s", async (_name, options: Proxy) => {
    const proxy = await proxyWith(options);
    vi.stubEnv("HTTPS_PROXY", `http://me:topsecret@${proxy.host}`);
    const failure = createFetch({})("https://llm.example/v1", post);
    const error = await failure.catch((thrown: unknown) => thrown as LocalError);
    expect(error).toMatchObject({ code: "unreachable" });
    expect(inspect(error, { depth: 9 })).not.toMatch(/topsecret|bWU6dG9wc2VjcmV0/);
  });

  test("trusts an authority of the option, and no unknown one", async () => {
    const port = await secureEcho();
    const proxy = { proxy: (await proxyWith()).url };
    const url = `https://llm.example:${port}/`;
    expect((await createFetch({ ...proxy, ca: authority.cert })(url)).status).toBe(201);
    await expect(createFetch(proxy)(url)).rejects.toThrow(/certificate|issuer|verify/i);
  });

  test("returns a redirect", async () => {
    const port = await listening(createServer((_, response) => response.writeHead(307, { location: "/b" }).end()));
    const response = await createFetch()(`http://127.0.0.1:${port}/a`, post);
    expect([response.status, response.headers.get("location")]).toEqual([307, "/b"]);
  });

  test("streams a body, and closes the connection of one that is cancelled", async () => {
    let close = (): void => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    const server = createServer((_, response) => {
      response.on("close", close);
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    });
    const response = await createFetch()(`http://127.0.0.1:${await listening(server)}/`);
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("data: 1\n\n");
    await reader.cancel();
    await closed;
  });

  test("rejects with the reason of the signal, before and within the reply", async () => {
    const server = createServer((_, response) => void response.writeHead(200).write("a"));
    const url = `http://127.0.0.1:${await listening(server)}/`;
    const reason = new Error("enough");
    await expect(createFetch()(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const response = await createFetch()(url, { signal: controller.signal });
    const reading = response.text();
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  test("has no body for a status that has none", async () => {
    const server = createServer((_, response) => response.writeHead(204).end());
    const response = await createFetch()(`http://127.0.0.1:${await listening(server)}/`);
    expect([response.status, response.body, await response.text()]).toEqual([204, null, ""]);
  });

  test("uses the global fetch of a program that has replaced it, unless it has options", async () => {
    const port = await plainEcho();
    const replacement = vi.fn(() => Promise.resolve(new Response("replaced")));
    vi.stubGlobal("fetch", replacement);
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await (await createFetch()(`http://127.0.0.1:${port}/`)).text()).toBe("replaced");
    expect((await createFetch({})(`http://127.0.0.1:${port}/`)).status).toBe(201);
  });
});
