import type { LookupAddress, LookupOptions } from "node:dns";
import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, type Socket, createServer as createTcpServer } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { makeCertificate } from "mcparley-tests/support/certificates.ts";
import { type ForwardProxy, startForwardProxy } from "mcparley-tests/support/forward-proxy.ts";
import { isPrivateAddress } from "../net/private-address.ts";
import type { GuardedRequest } from "../auth/client/web.ts";
import type { LocalError } from "../rpc/errors.ts";
import type { Environment } from "./http-client/proxy.ts";
import { type Network, sendGuarded, sendThrough } from "./guarded-send.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(
  handle: Handler = (_, response) => response.end("reached"),
): Promise<{ port: number; seen: { connections: number } }> {
  const seen = { connections: 0 };
  const server: Server = createServer(handle);
  server.on("connection", () => seen.connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

/** A fake DNS that returns the answers for a name in order, and then repeats the last one. */
function fakeDns(names: Record<string, string[][]>): { lookup: Network["lookup"]; asked: string[] } {
  const asked: string[] = [];
  const lookup = (
    hostname: string,
    _: LookupOptions,
    callback: (error: Error | null, addresses: LookupAddress[]) => void,
  ): void => {
    asked.push(hostname);
    const answers = names[hostname] ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (!answer)
      return callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" }), []);
    callback(
      null,
      answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  return { lookup: lookup as unknown as Network["lookup"], asked };
}

function get(options: Partial<GuardedRequest> = {}): GuardedRequest {
  return { method: "GET", headers: {}, allowPrivate: false, signal: new AbortController().signal, ...options };
}

/** Classifies loopback addresses as public, because the test servers listen there. */
const exceptLoopback = (address: string): boolean => !address.startsWith("127.") && isPrivateAddress(address);

function urlOf(host: string, port: number): URL {
  return new URL(`http://${host}:${port}/`);
}

const forbidden = { name: "LocalError", code: "forbidden_url" };

describe("discovery reaches no private address", () => {
  test.each([
    ["loopback", "127.0.0.1"],
    ["loopback in IPv6", "[::1]"],
    ["loopback as IPv4-mapped", "[::ffff:127.0.0.1]"],
    ["loopback as a number", "2130706433"],
    ["the metadata of clouds", "169.254.169.254"],
    ["a private network", "10.0.0.1"],
    ["a carrier's network", "100.64.0.1"],
    ["multicast", "239.255.255.250"],
  ])("a URL that holds an address is refused: %s", async (_, host) => {
    const { port, seen } = await serve();
    await expect(sendGuarded(urlOf(host, port), get())).rejects.toMatchObject(forbidden);
    expect(seen.connections).toBe(0);
  });

  test.each([
    ["to this machine", ["127.0.0.1"]],
    ["to this machine in IPv6", ["::1"]],
    ["to the metadata of a cloud", ["169.254.169.254"]],
    ["to a public address and a private one", ["93.184.215.14", "127.0.0.1"]],
  ])("a name that resolves %s is refused", async (_, addresses) => {
    const { port, seen } = await serve();
    const { lookup, asked } = fakeDns({ "meta.example": [addresses] });
    const refused = sendThrough({ lookup, isPrivate: isPrivateAddress, env: {} }, urlOf("meta.example", port), get());
    await expect(refused).rejects.toMatchObject(forbidden);
    expect(asked).toEqual(["meta.example"]);
    expect(seen.connections).toBe(0);
  });

  test("the error names the host, its address and the reason", async () => {
    const { lookup } = fakeDns({ "meta.example": [["10.1.2.3"]] });
    const refused = sendThrough(
      { lookup, isPrivate: isPrivateAddress, env: {} },
      new URL("http://meta.example/"),
      get(),
    );
    const error = (await refused.catch((caught: unknown) => caught)) as LocalError;
    expect(error.message).toBe(
      "Refused to send a request to meta.example: it resolves to 10.1.2.3, an address outside of the public Internet, but the MCP server that refers to it is public. Set allowPrivateNetwork: true to allow this.",
    );
    expect(error.data).toEqual({ host: "meta.example", address: "10.1.2.3" });
  });

  test("a name that is rebound between two requests is checked again, for the connection itself", async () => {
    const { port, seen } = await serve((_, response) => response.writeHead(307, { location: "/again" }).end());
    const network = {
      ...fakeDns({ "rebound.example": [["127.0.0.1"], ["10.0.0.1"]] }),
      isPrivate: exceptLoopback,
      env: {},
    };
    const url = urlOf("rebound.example", port);
    const first = await sendThrough(network, url, get());
    expect(first.status).toBe(307);
    await expect(sendThrough(network, url, get())).rejects.toMatchObject(forbidden);
    expect(network.asked).toEqual(["rebound.example", "rebound.example"]);
    expect(seen.connections).toBe(1);
  });

  test("a connection serves one request, because the address of a reused one was not checked", async () => {
    const { port, seen } = await serve((request, response) => response.end(request.headers.connection));
    const network = { ...fakeDns({ "public.example": [["127.0.0.1"]] }), isPrivate: exceptLoopback, env: {} };
    for (let i = 0; i < 2; i++) {
      const response = await sendThrough(network, urlOf("public.example", port), get());
      expect(await response.text()).toBe("close");
    }
    expect(seen.connections).toBe(2);
  });

  test("an MCP server at a private address may refer to private addresses", async () => {
    const { port } = await serve();
    const response = await sendGuarded(urlOf("127.0.0.1", port), get({ allowPrivate: true }));
    expect(await response.text()).toBe("reached");
  });
});

describe("a response", () => {
  test("has the status, headers and body that were sent, and the request accepts no compression", async () => {
    const { port } = await serve((request, response) => {
      response.setHeader("x-many", ["a", "b"]);
      const { method, headers } = request;
      request.setEncoding("utf8").on("data", (body) => response.end(JSON.stringify({ method, body, headers })));
    });
    const request = get({ method: "POST", headers: { "x-sent": "1" }, body: "grant=1", allowPrivate: true });
    const response = await sendGuarded(urlOf("127.0.0.1", port), request);
    expect(response.headers.get("x-many")).toBe("a, b");
    expect(await response.json()).toMatchObject({
      method: "POST",
      body: "grant=1",
      headers: { "x-sent": "1", "accept-encoding": "identity", "content-length": "7" },
    });
  });

  test("that redirects is returned, and no request is sent to its target", async () => {
    const { port } = await serve((_, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end());
    const response = await sendGuarded(urlOf("127.0.0.1", port), get({ allowPrivate: true }));
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe("http://10.0.0.1/");
  });

  test("without content has the body null", async () => {
    const { port } = await serve((_, response) => response.writeHead(204).end());
    const response = await sendGuarded(urlOf("127.0.0.1", port), get({ allowPrivate: true }));
    expect(response.body).toBeNull();
  });

  test.each([
    "HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 101 Other\r\nupgrade: x\r\n\r\n",
    "nonsense\r\n\r\n",
  ])("that is not valid HTTP fails: %j", async (raw) => {
    const server = createTcpServer((socket: Socket) => void socket.on("error", () => {}).end(raw)).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    await expect(sendGuarded(urlOf("127.0.0.1", port), get({ allowPrivate: true }))).rejects.toThrow(Error);
  });
});

describe("an abort", () => {
  const reason = new Error("given up");

  test("before the start opens no connection", async () => {
    const { port, seen } = await serve();
    const sending = sendGuarded(
      urlOf("127.0.0.1", port),
      get({ allowPrivate: true, signal: AbortSignal.abort(reason) }),
    );
    await expect(sending).rejects.toBe(reason);
    expect(seen.connections).toBe(0);
  });

  test("before the response rejects with the reason", async () => {
    const controller = new AbortController();
    const { port } = await serve(() => controller.abort(reason));
    const sending = sendGuarded(urlOf("127.0.0.1", port), get({ allowPrivate: true, signal: controller.signal }));
    await expect(sending).rejects.toBe(reason);
  });

  test("during the body rejects its reading", async () => {
    const controller = new AbortController();
    const { port } = await serve((_, response) => void response.write("begin"));
    const sending = sendGuarded(urlOf("127.0.0.1", port), get({ allowPrivate: true, signal: controller.signal }));
    const { body } = await sending;
    const reader = body!.getReader();
    await reader.read();
    controller.abort(reason);
    await expect(reader.read()).rejects.toThrow(Error);
  });

  test("a name that does not exist is reported", async () => {
    const network = { ...fakeDns({}), isPrivate: isPrivateAddress, env: {} };
    const sending = sendThrough(network, new URL("http://nowhere.example/"), get());
    await expect(sending).rejects.toMatchObject({ code: "ENOTFOUND" });
  });
});

describe("through a proxy", () => {
  const authority = makeCertificate({ name: "Test authority" });
  const certificate = makeCertificate({ name: "as", issuer: authority, hosts: ["as.example"] });
  const client = makeCertificate({ name: "client", issuer: authority, hosts: ["client.example"] });

  async function startProxy(...options: Parameters<typeof startForwardProxy>): Promise<ForwardProxy> {
    const proxy = await startForwardProxy(...options);
    closers.push(() => proxy.close());
    return proxy;
  }

  /** Starts an https server that answers with the name of the client certificate. */
  async function serveSecurely(): Promise<number> {
    const server = createSecureServer({ ...certificate, requestCert: true, rejectUnauthorized: false });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      const { subject } = (socket as TLSSocket).getPeerCertificate();
      response.end(subject ? subject.CN : "anonymous");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  /** Names are not resolved here: the lookup fails. */
  const offline = (env: Environment): Network => ({ ...fakeDns({}), isPrivate: isPrivateAddress, env });

  test("an https request uses a tunnel, with the proxy of the environment", async () => {
    const { url, requests } = await startProxy();
    const port = await serveSecurely();
    const network = offline({ HTTPS_PROXY: url });
    const request = get({ connection: { ca: authority.cert } });
    const response = await sendThrough(network, new URL(`https://as.example:${port}/token`), request);
    expect(await response.text()).toBe("anonymous");
    expect(requests.map(({ target }) => target)).toEqual([`as.example:${port}`]);
  });

  test("an http request is forwarded with its whole URL and the credentials of the proxy", async () => {
    const { host, requests } = await startProxy({ credentials: "me:topsecret" });
    const { port } = await serve((request, response) =>
      response.end(`${request.url} ${JSON.stringify(request.headers)}`),
    );
    const connection = { proxy: `http://me:topsecret@${host}` };
    const url = new URL(`http://as.example:${port}/a?b=1#c`);
    const text = await (await sendThrough(offline({}), url, get({ connection }))).text();
    expect(text).toContain(`/a?b=1 {"host":"as.example:${port}"`);
    expect(text).not.toContain("proxy-authorization");
    expect(requests[0]?.target).toBe(`http://as.example:${port}/a?b=1`);
    const wrong = { proxy: `http://me:wrong@${host}` };
    await expect(sendThrough(offline({}), url, get({ connection: wrong }))).rejects.toMatchObject({
      code: "unreachable",
      message: `The proxy ${host} rejected the user and the password in connection.proxy (407). Correct them.`,
    });
  });

  test("a literal private address is refused, and a name is left to the proxy", async () => {
    const { url, requests } = await startProxy({ refuse: () => 403 });
    const network = offline({ HTTPS_PROXY: url });
    await expect(sendThrough(network, new URL("https://10.0.0.1/"), get())).rejects.toMatchObject(forbidden);
    await expect(sendThrough(network, new URL("https://[fd00::1]/"), get())).rejects.toMatchObject(forbidden);
    expect(requests).toEqual([]);
    await expect(sendThrough(network, new URL("https://intern.example/"), get())).rejects.toMatchObject({
      code: "unreachable",
      data: { status: 403 },
    });
  });

  test("loopback servers and hosts in NO_PROXY are reached directly", async () => {
    const { url, requests } = await startProxy({ refuse: () => 403 });
    const { port } = await serve();
    const env = { HTTP_PROXY: url, NO_PROXY: ".example" };
    const network = { ...fakeDns({ "as.example": [["127.0.0.1"]] }), isPrivate: exceptLoopback, env };
    for (const host of ["127.0.0.1", "as.example"]) {
      const response = await sendThrough(network, urlOf(host, port), get());
      expect(await response.text()).toBe("reached");
    }
    expect(requests).toEqual([]);
  });

  test("the connection settings also apply without a proxy", async () => {
    const port = await serveSecurely();
    const network = { ...fakeDns({ "as.example": [["127.0.0.1"]] }), isPrivate: exceptLoopback, env: {} };
    const url = new URL(`https://as.example:${port}/`);
    await expect(sendThrough(network, url, get())).rejects.toMatchObject({ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" });
    const { cert, key } = client;
    const connection = { ca: authority.cert, cert, key };
    expect(await (await sendThrough(network, url, get({ connection }))).text()).toBe("client");
  });

  test("an abort ends a request whose tunnel is being opened", async () => {
    const reason = new Error("given up");
    const controller = new AbortController();
    const server = createTcpServer(() => controller.abort(reason)).listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => server.close());
    const connection = { proxy: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const sending = sendThrough(
      offline({}),
      new URL("https://as.example/"),
      get({ connection, signal: controller.signal }),
    );
    await expect(sending).rejects.toBe(reason);
  });
});
