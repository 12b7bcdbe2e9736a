import { once } from "node:events";
import { type RequestListener, createServer } from "node:http";
import { type ServerOptions, createServer as createSecureServer } from "node:https";
import { type AddressInfo, type Socket, createServer as createTcpServer } from "node:net";
import type { TLSSocket } from "node:tls";
import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { makeCertificate } from "mcparley-tests/support/certificates.ts";
import { type ForwardProxy, startForwardProxy } from "mcparley-tests/support/forward-proxy.ts";
import { connectionError } from "../../http/client/connection-error.ts";
import type { HttpConnection } from "../../http/client/settings.ts";
import type { LocalError } from "../../rpc/errors.ts";
import { createSender } from "./sender.ts";

const day = 86_400_000;
const authority = makeCertificate({ name: "Test authority" });
const hosts = ["localhost", "mcp.example"];
const server = makeCertificate({ name: "server", issuer: authority, hosts });
const client = makeCertificate({ name: "client", issuer: authority, hosts: ["client.example"] });
const proxyCertificate = makeCertificate({ name: "proxy", issuer: authority, hosts: ["127.0.0.1"] });
const [from, until] = [new Date(Date.now() - 2 * day), new Date(Date.now() - day)];
const expired = makeCertificate({ name: "expired", issuer: authority, hosts, from, until });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Served {
  readonly port: number;
  readonly connections: Socket[];
}

/** Answers with the name of the client certificate, the URL and the headers of the request. */
const echo: RequestListener = (request, response) => {
  const socket = request.socket as Partial<TLSSocket>;
  const subject = socket.getPeerCertificate?.().subject?.CN;
  request
    .resume()
    .on("end", () => response.end(JSON.stringify({ subject, url: request.url, headers: request.headers })));
};

async function serve(listener: RequestListener = echo, secure?: ServerOptions): Promise<Served> {
  const connections: Socket[] = [];
  const listening = secure
    ? createSecureServer({ ...server, requestCert: true, rejectUnauthorized: false, ...secure }, listener)
    : createServer(listener);
  listening.on("connection", (socket: Socket) => void connections.push(socket));
  listening.on("tlsClientError", () => {});
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  closers.push(() => {
    for (const socket of connections) socket.destroy();
    return new Promise((resolve) => listening.close(resolve));
  });
  return { port: (listening.address() as AddressInfo).port, connections };
}

async function startProxy(...options: Parameters<typeof startForwardProxy>): Promise<ForwardProxy> {
  const proxy = await startForwardProxy(...options);
  closers.push(() => proxy.close());
  return proxy;
}

const post = { method: "POST", headers: {}, body: "{}" };

interface Echo {
  subject?: string;
  url: string;
  headers: Record<string, string>;
}

async function echoOf(url: string, connection: HttpConnection, env = {}): Promise<Echo> {
  const reply = await createSender({ connection, env })(new URL(url), post);
  return JSON.parse(await reply.text()) as Echo;
}

/** Sends a request that fails, and returns the error that a call would have. */
async function failureOf(url: string, connection: HttpConnection, env = {}): Promise<LocalError> {
  const at = new URL(url);
  return createSender({ connection, env })(at, post).then(
    () => expect.fail("The request did not fail."),
    (error: unknown) => connectionError(at, error),
  );
}

describe("a server with TLS", () => {
  test("is trusted if its authority is in connection.ca", async () => {
    const { port } = await serve(echo, {});
    expect(await echoOf(`https://localhost:${port}/mcp`, { ca: authority.cert })).toMatchObject({ url: "/mcp" });
  });

  test("receives the client certificate", async () => {
    const { port } = await serve(echo, { ca: authority.cert, rejectUnauthorized: true });
    const { cert, key } = client;
    const { subject } = await echoOf(`https://localhost:${port}/`, { ca: authority.cert, cert, key });
    expect(subject).toBe("client");
  });

  test("is sent many requests on few connections", async () => {
    const { port, connections } = await serve(echo, {});
    const send = createSender({ connection: { ca: authority.cert }, env: {} });
    for (let i = 0; i < 5; i++) await (await send(new URL(`https://localhost:${port}/`), post)).text();
    expect(connections).toHaveLength(1);
  });

  test.each<[string, ServerOptions, HttpConnection, string]>([
    [
      "an unknown authority",
      {},
      {},
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE, its certificate authority is not trusted. If you trust it, pass the certificate of its authority in connection.ca, or its file in NODE_EXTRA_CA_CERTS.",
    ],
    [
      "an expired certificate",
      expired,
      { ca: authority.cert },
      "CERT_HAS_EXPIRED, its certificate has expired. Renew the certificate, and check the clock of this machine.",
    ],
    [
      "a certificate of another host",
      client,
      { ca: authority.cert },
      "ERR_TLS_CERT_ALTNAME_INVALID, its certificate is for other host names (DNS:client.example). Use a host name of the certificate in the URL, or give the server a certificate for this host.",
    ],
  ])("is refused with %s", async (_, options, connection, text) => {
    const { port } = await serve(() => expect.fail("The server received a request."), options);
    const error = await failureOf(`https://localhost:${port}/`, connection);
    expect(error.code).toBe("unreachable");
    expect(error.message).toBe(`Cannot reach localhost:${port}: ${text}`);
  });

  test("is refused at an IP address that its certificate does not contain, also through a proxy", async () => {
    const { port } = await serve(() => expect.fail("The server received a request."), {});
    const { url } = await startProxy();
    for (const proxy of [false, url] as const) {
      const error = await failureOf(`https://127.0.0.1:${port}/`, { ca: authority.cert, proxy });
      expect(error).toMatchObject({ code: "unreachable", data: { code: "ERR_TLS_CERT_ALTNAME_INVALID" } });
    }
  });

  test("that requires a client certificate refuses a client without one", async () => {
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      const { port } = await serve(echo, { ca: authority.cert, rejectUnauthorized: true, maxVersion });
      const error = await failureOf(`https://localhost:${port}/`, { ca: authority.cert });
      expect(error.message).toContain(`localhost:${port}`);
      expect(error.message).toContain("Pass a certificate that the server accepts in connection.cert, and its key in");
    }
  });

  test("is not found at a port without TLS", async () => {
    const { port } = await serve();
    const error = await failureOf(`https://localhost:${port}/`, {});
    expect(error).toMatchObject({ code: "unreachable" });
    expect(error.message).toContain(
      "the port does not speak TLS. Use an http URL if this is intended, or correct the port.",
    );
  });

  test("is not connected to with invalid settings", async () => {
    const { port, connections } = await serve(echo, {});
    const send = createSender({ connection: { ca: "topsecret" }, env: {} });
    for (let i = 0; i < 2; i++) {
      await expect(send(new URL(`https://localhost:${port}/`), post)).rejects.toMatchObject({ code: "invalid_target" });
    }
    expect(connections).toHaveLength(0);
  });
});

describe("a proxy of the environment", () => {
  test("opens one tunnel for requests one after another to an https server", async () => {
    const { url, requests } = await startProxy();
    const { port, connections } = await serve(echo, {});
    const send = createSender({ connection: { ca: authority.cert }, env: { HTTPS_PROXY: url } });
    for (let i = 0; i < 5; i++) {
      const reply = await send(new URL(`https://mcp.example:${port}/mcp`), post);
      expect(JSON.parse(await reply.text())).toMatchObject({ url: "/mcp", headers: { host: `mcp.example:${port}` } });
    }
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual([`CONNECT mcp.example:${port}`]);
    expect(connections).toHaveLength(1);
  });

  test("receives the whole URL of requests to an http server", async () => {
    const { host, requests } = await startProxy({ credentials: "me:topsecret" });
    const { port } = await serve();
    const env = { HTTP_PROXY: `http://me:topsecret@${host}` };
    const { url, headers } = await echoOf(`http://mcp.example:${port}/mcp?a=1`, {}, env);
    expect(url).toBe("/mcp?a=1");
    expect(headers.host).toBe(`mcp.example:${port}`);
    expect(headers).not.toHaveProperty("proxy-authorization");
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      `POST http://mcp.example:${port}/mcp?a=1`,
    ]);
  });

  test("is not used for loopback and for hosts in NO_PROXY", async () => {
    const { url, requests } = await startProxy();
    const { port } = await serve();
    const env = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url };
    expect(await echoOf(`http://127.0.0.1:${port}/a`, {}, env)).toMatchObject({ url: "/a" });
    expect(await echoOf(`http://localhost:${port}/b`, {}, env)).toMatchObject({ url: "/b" });
    expect(requests).toEqual([]);
    const failure = await failureOf(`http://mcp.invalid:${port}/`, {}, { ...env, NO_PROXY: ".invalid" });
    expect(failure.message).toContain(`Cannot reach mcp.invalid:${port}`);
    expect(requests).toEqual([]);
  });

  test("is replaced by connection.proxy, which false turns off", async () => {
    const { url, requests } = await startProxy();
    const { port } = await serve();
    const env = { HTTP_PROXY: "http://127.0.0.1:1" };
    await echoOf(`http://127.0.0.1:${port}/`, { proxy: new URL(url) }, env);
    expect(requests).toHaveLength(1);
    await echoOf(`http://127.0.0.1:${port}/`, { proxy: false }, env);
    expect(requests).toHaveLength(1);
  });
});

describe("an https proxy", () => {
  test("forwards and tunnels, and receives no client certificate", async () => {
    const { url, requests, clientCertificates } = await startProxy({ certificate: proxyCertificate });
    const { cert, key } = client;
    const connection = { proxy: url, ca: authority.cert, cert, key };
    const [plain, secure] = [await serve(), await serve(echo, {})];
    expect(await echoOf(`http://mcp.example:${plain.port}/a`, connection)).toMatchObject({ url: "/a" });
    expect(await echoOf(`https://mcp.example:${secure.port}/b`, connection)).toMatchObject({ subject: "client" });
    expect(requests.map(({ method }) => method)).toEqual(["POST", "CONNECT"]);
    expect(clientCertificates).toEqual([undefined, undefined]);
  });
});

describe("a proxy that forwards nothing", () => {
  test.each<[string, "http" | "https"]>([
    ["http", "http"],
    ["https", "https"],
  ])("because of its credentials fails a request over %s", async (_, scheme) => {
    const { host, requests } = await startProxy({ credentials: "me:other" });
    const url = `${scheme}://mcp.example/mcp`;
    const rejected = await failureOf(url, { proxy: `http://me:topsecret@${host}` });
    expect(rejected).toMatchObject({ code: "unreachable", data: { host: "mcp.example", proxy: host, status: 407 } });
    expect(rejected.message).toContain("rejected the user and the password in connection.proxy (407). Correct them.");
    expectNoSecret(rejected);
    const missing = await failureOf(url, { proxy: `http://${host}` });
    expect(missing.message).toContain("requires a user and a password (407). Add them to connection.proxy");
    expect(requests).toHaveLength(2);
  });

  test("because nothing listens there", async () => {
    const { host, ...proxy } = await startProxy();
    await proxy.close();
    for (const scheme of ["http", "https"]) {
      const error = await failureOf(`${scheme}://mcp.example/`, { proxy: `http://me:topsecret@${host}` });
      expect(error.message).toContain(`Cannot reach the proxy ${host} for mcp.example: ECONNREFUSED`);
      expectNoSecret(error);
    }
  });

  test("in time", async () => {
    const sockets: Socket[] = [];
    const silent = createTcpServer((socket) => void sockets.push(socket.on("error", () => {}))).listen(0, "127.0.0.1");
    await once(silent, "listening");
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const proxy = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const at = new URL("https://mcp.example/");
    const sending = createSender({ connection: { proxy }, env: {}, connectMs: 20 })(at, post);
    const error = connectionError(at, await sending.catch((thrown: unknown) => thrown));
    expect(error).toMatchObject({ code: "unreachable", data: { code: "ETIMEDOUT", proxy } });
    expect(error.message).toBe(
      `Cannot reach the proxy ${proxy} for mcp.example: ETIMEDOUT, it did not answer in time. Check connection.proxy.`,
    );
  });
});

/** Fails if any part of an error contains the password of the proxy in any form. */
function expectNoSecret(error: LocalError): void {
  const text = inspect(error, { depth: 20, showHidden: true });
  for (const secret of ["topsecret", Buffer.from("me:topsecret").toString("base64")])
    expect(text).not.toContain(secret);
}

describe("an abort", () => {
  test("ends a stream and its tunnel", async () => {
    const { url, tunnels } = await startProxy();
    const { port } = await serve((_, response) => void response.writeHead(200).write("data: 1\n\n"), {});
    const controller = new AbortController();
    const send = createSender({ connection: { proxy: url, ca: authority.cert }, env: {} });
    const reply = await send(new URL(`https://mcp.example:${port}/`), { ...post, signal: controller.signal });
    const reader = reply.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
    expect(tunnels.size).toBe(1);
    controller.abort(new Error("given up"));
    await expect(reader?.read()).rejects.toThrow("given up");
    await expect.poll(() => tunnels.size).toBe(0);
  });

  test("ends an attempt to connect through a proxy", async () => {
    const controller = new AbortController();
    let closed!: () => void;
    const whenClosed = new Promise<void>((resolve) => (closed = resolve));
    const silent = createTcpServer((socket) => {
      socket
        .on("error", () => {})
        .on("close", closed)
        .resume();
      controller.abort(new Error("given up"));
    }).listen(0, "127.0.0.1");
    await once(silent, "listening");
    closers.push(() => silent.close());
    const connection = { proxy: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` };
    const send = createSender({ connection, env: {} });
    const sending = send(new URL("https://mcp.example/"), { ...post, signal: controller.signal });
    await expect(sending).rejects.toThrow("given up");
    await whenClosed;
  });
});
