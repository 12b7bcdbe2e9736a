import { once } from "node:events";
import { type AddressInfo, type Socket, createServer as createTcpServer } from "node:net";
import { type TlsOptions, createServer as createTlsServer } from "node:tls";
import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { makeCertificate } from "mcparley-tests/support/certificates.ts";
import { type ForwardProxy, startForwardProxy } from "mcparley-tests/support/forward-proxy.ts";
import type { HttpConnection } from "../../http/client/settings.ts";
import type { LocalError } from "../../rpc/errors.ts";
import { hasProxy, routeTo } from "./route.ts";
import { openTunnel } from "./tunnel.ts";

const authority = makeCertificate({ name: "Test authority" });
const server = makeCertificate({ name: "server", issuer: authority, hosts: ["mcp.example", "127.0.0.1"] });
const client = makeCertificate({ name: "client", issuer: authority, hosts: ["client.example"] });
const proxyCertificate = makeCertificate({ name: "proxy", issuer: authority, hosts: ["127.0.0.1"] });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function proxy(...options: Parameters<typeof startForwardProxy>): Promise<ForwardProxy> {
  const started = await startForwardProxy(...options);
  closers.push(() => started.close());
  return started;
}

/** Starts a TLS server that answers each connection with the server name and the client certificate that it received. */
async function secureServer(options: TlsOptions = {}): Promise<number> {
  const listener = createTlsServer(
    { ...server, requestCert: true, rejectUnauthorized: false, ...options },
    (socket) => {
      const { subject } = socket.getPeerCertificate();
      socket
        .on("error", () => {})
        .end(`${String((socket as { servername?: unknown }).servername)} ${subject ? subject.CN : "anonymous"}`);
    },
  );
  listener.on("tlsClientError", () => {});
  return listen(listener);
}

/** Starts a server without TLS. Without an answer it sends nothing. */
async function plainServer(answer?: string): Promise<number> {
  const sockets = new Set<Socket>();
  const listener = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).resume();
    if (answer !== undefined) socket.end(answer);
  });
  closers.push(() => sockets.forEach((socket) => socket.destroy()));
  return listen(listener);
}

async function listen(listener: ReturnType<typeof createTcpServer>): Promise<number> {
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  closers.push(() => listener.close());
  return (listener.address() as AddressInfo).port;
}

const unending = new AbortController().signal;

async function open(url: string, connection: HttpConnection, signal = unending): Promise<Socket> {
  const target = new URL(url);
  const route = routeTo(target, connection, {});
  if (!hasProxy(route)) throw new Error("There is no proxy.");
  const socket = await openTunnel(target, { ...route, signal });
  closers.push(() => socket.destroy());
  return socket;
}

/** Opens a tunnel and returns the first text that arrives. */
async function textThrough(url: string, connection: HttpConnection): Promise<string> {
  const socket = await open(url, connection);
  const [text] = (await once(socket.setEncoding("utf8"), "data")) as [string];
  return text;
}

async function failureOf(sending: Promise<unknown>): Promise<LocalError> {
  const error = await sending.then(
    () => new Error("no failure"),
    (thrown: unknown) => thrown,
  );
  return error as LocalError;
}

describe("a tunnel", () => {
  test("leads to the host and port of the URL, with TLS for https", async () => {
    const { url, requests } = await proxy();
    const [secure, plain] = [await secureServer(), await plainServer("plain")];
    const connection = { proxy: url, ca: authority.cert };
    expect(await textThrough(`https://mcp.example:${secure}/mcp`, connection)).toBe("mcp.example anonymous");
    expect(await textThrough(`http://mcp.example:${plain}/mcp`, connection)).toBe("plain");
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      `CONNECT mcp.example:${secure}`,
      `CONNECT mcp.example:${plain}`,
    ]);
    expect(requests[0]?.headers).toEqual({ host: `mcp.example:${secure}`, connection: "close" });
  });

  test("ends when its socket is destroyed", async () => {
    const { url, tunnels } = await proxy();
    const port = await plainServer();
    const secure = await secureServer();
    for (const at of [`http://mcp.example:${port}/`, `https://mcp.example:${secure}/`]) {
      const socket = await open(at, { proxy: url, ca: authority.cert });
      expect(tunnels.size).toBe(1);
      socket.destroy();
      await expect.poll(() => tunnels.size, { timeout: 5000 }).toBe(0);
    }
  });

  test("leads to an IP address, whose certificate names the address", async () => {
    const { url } = await proxy();
    const port = await secureServer();
    const text = await textThrough(`https://127.0.0.1:${port}/`, { proxy: url, ca: authority.cert });
    expect(text).toBe("false anonymous");
  });

  test("sends the client certificate to the server and not to an https proxy", async () => {
    const { cert, key } = client;
    const { url, clientCertificates } = await proxy({ certificate: proxyCertificate });
    const port = await secureServer();
    const text = await textThrough(`https://mcp.example:${port}/`, { proxy: url, ca: authority.cert, cert, key });
    expect(text).toBe("mcp.example client");
    expect(clientCertificates).toEqual([undefined]);
  });

  test("sends the credentials of the proxy to the proxy", async () => {
    const { host, requests } = await proxy({ credentials: "me:p#ss" });
    const port = await secureServer();
    const text = await textThrough(`https://mcp.example:${port}/`, {
      proxy: `http://me:p%23ss@${host}`,
      ca: authority.cert,
    });
    expect(text).toBe("mcp.example anonymous");
    expect(requests).toHaveLength(1);
  });
});

describe("a proxy that opens no tunnel", () => {
  const at = "https://mcp.example/mcp";

  test.each<[string, Parameters<typeof startForwardProxy>[0], string, string]>([
    [
      "requires credentials",
      { credentials: "me:topsecret" },
      "",
      "requires a user and a password (407). Add them to connection.proxy: http://USER:PASSWORD@HOST",
    ],
    [
      "rejects credentials",
      { credentials: "me:other" },
      "me:topsecret@",
      "rejected the user and the password in connection.proxy (407). Correct them.",
    ],
    [
      "requires other credentials",
      { credentials: "me:other", challenge: 'Negotiate, NTLM, Digest realm="a, b", nonce="x"' },
      "",
      "requires the authentication Negotiate or NTLM or Digest (407), and mcparley sends only Basic. Use a proxy that accepts Basic.",
    ],
    [
      "forbids it",
      { refuse: () => 403 },
      "me:topsecret@",
      "refuses connections to mcp.example:443 (403). Allow them in the proxy; if it can be reached directly, do not set connection.proxy for it.",
    ],
    [
      "cannot connect",
      { refuse: () => 502 },
      "me:topsecret@",
      "cannot connect to mcp.example:443 (502). Check that the host exists; if it can be reached directly, do not set connection.proxy for it.",
    ],
  ])("because it %s", async (_, options, userinfo, text) => {
    const { host, tunnels } = await proxy(options);
    const error = await failureOf(open(at, { proxy: `http://${userinfo}${host}` }));
    expect(error).toMatchObject({ code: "unreachable", data: { host: "mcp.example", proxy: host } });
    expect(error.message).toBe(`The proxy ${host} ${text.replace("HOST", host)}`);
    expectNoSecret(error);
    expect(tunnels.size).toBe(0);
  });

  test("because nothing listens there", async () => {
    const closed = await proxy();
    await closed.close();
    const { host } = closed;
    const error = await failureOf(open(at, { proxy: `http://me:topsecret@${host}` }));
    expect(error).toMatchObject({ code: "unreachable", data: { code: "ECONNREFUSED", proxy: host } });
    expect(error.message).toBe(
      `Cannot reach the proxy ${host} for mcp.example: ECONNREFUSED, nothing is listening there. Check connection.proxy.`,
    );
    expectNoSecret(error);
  });

  test("because it closes the connection", async () => {
    const port = await plainServer("");
    const error = await failureOf(open(at, { proxy: `http://127.0.0.1:${port}` }));
    expect(error).toMatchObject({ code: "unreachable", data: { code: "ECONNRESET" } });
  });

  test("because its certificate is not trusted", async () => {
    const { url } = await proxy({ certificate: proxyCertificate });
    const error = await failureOf(open(at, { proxy: url }));
    expect(error.message).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE, its certificate authority is not trusted.");
    expect(error.message).toContain("connection.ca");
  });

  test("because it speaks no TLS", async () => {
    const { host } = await proxy();
    const error = await failureOf(open(at, { proxy: `https://${host}` }));
    expect(error.message).toMatch(/^Cannot reach the proxy .*, the port does not speak TLS\./);
  });

  test("names the variable of the environment", async () => {
    const { url, host } = await proxy({ refuse: () => 403, credentials: "me:topsecret" });
    for (const [value, text] of [
      [url, `Add them to HTTPS_PROXY: http://USER:PASSWORD@${host}`],
      [`http://me:topsecret@${host}`, "if it can be reached directly, add it to NO_PROXY."],
    ]) {
      const route = routeTo(new URL(at), {}, { HTTPS_PROXY: value });
      const error = await failureOf(openTunnel(new URL(at), { ...route, proxy: route.proxy!, signal: unending }));
      expect(error.message).toContain(text);
      expectNoSecret(error);
    }
  });
});

/** Fails if a part of an error, its cause included, contains the password of the proxy in any form. */
function expectNoSecret(error: LocalError): void {
  const { message, stack, cause, data } = error;
  const all = [message, stack, JSON.stringify(data), inspect(cause, { depth: 9, showHidden: true })].join("\n");
  for (const secret of ["topsecret", Buffer.from("me:topsecret").toString("base64")]) expect(all).not.toContain(secret);
}

describe("TLS through a tunnel", () => {
  const day = 86_400_000;
  const hosts = ["mcp.example"];
  const expired = makeCertificate({
    name: "old",
    issuer: authority,
    hosts,
    from: new Date(Date.now() - 2 * day),
    until: new Date(Date.now() - day),
  });

  test.each<[string, TlsOptions, HttpConnection, string]>([
    ["an unknown authority", {}, {}, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["an expired certificate", expired, { ca: authority.cert }, "CERT_HAS_EXPIRED"],
    ["a certificate of another host", client, { ca: authority.cert }, "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])("rejects %s", async (_, options, connection, code) => {
    const { url } = await proxy();
    const port = await secureServer(options);
    const error = await failureOf(open(`https://mcp.example:${port}/`, { ...connection, proxy: url }));
    expect(error).toMatchObject({ code, syscall: "connect" });
  });

  test("fails if the server speaks no TLS", async () => {
    const { url } = await proxy();
    const port = await plainServer("HTTP/1.1 400 Bad Request\r\n\r\n");
    const error = await failureOf(open(`https://mcp.example:${port}/`, { proxy: url }));
    expect(error).toMatchObject({ code: "ERR_SSL_WRONG_VERSION_NUMBER", syscall: "connect" });
  });

  test("fails if the server closes the connection", async () => {
    const { url } = await proxy();
    const port = await plainServer("");
    const error = await failureOf(open(`https://mcp.example:${port}/`, { proxy: url }));
    expect(error).toMatchObject({ code: "ECONNRESET", syscall: "connect" });
  });
});

describe("an abort", () => {
  const reason = new Error("given up");

  test("ends the wait for the proxy", async () => {
    const port = await plainServer();
    const controller = new AbortController();
    const failure = failureOf(open("https://mcp.example/", { proxy: `http://127.0.0.1:${port}` }, controller.signal));
    controller.abort(reason);
    expect(await failure).toBe(reason);
  });

  test("ends the wait for TLS and closes the tunnel", async () => {
    const { url, tunnels } = await proxy();
    const port = await plainServer();
    const controller = new AbortController();
    const failure = failureOf(open(`https://mcp.example:${port}/`, { proxy: url }, controller.signal));
    await expect.poll(() => tunnels.size).toBe(1);
    controller.abort(reason);
    expect(await failure).toBe(reason);
    await expect.poll(() => tunnels.size, { timeout: 5000 }).toBe(0);
  });
});
