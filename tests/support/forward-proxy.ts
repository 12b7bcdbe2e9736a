import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer, request } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, type Socket, connect } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Certificate } from "./certificates.ts";

interface ForwardProxyOptions {
  /** `USER:PASSWORD` that each request must have. Default: none. */
  credentials?: string;
  /** The challenge in a response 407. Default: Basic. */
  challenge?: string;
  /** The status with which it refuses to connect to a host and port. Default: it connects. */
  refuse?: (authority: string) => number | undefined;
  /** The proxy is https with this certificate. Default: http. */
  certificate?: Certificate;
}

/** A request that the proxy received. */
interface ProxyRequest {
  readonly method: string;
  /** The host and port of `CONNECT`, or else the whole URL. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface ForwardProxy {
  readonly url: string;
  readonly host: string;
  readonly requests: ProxyRequest[];
  /** The open tunnels. */
  readonly tunnels: ReadonlySet<Socket>;
  /** The common name of the client certificate of each connection to an https proxy. */
  readonly clientCertificates: readonly (string | undefined)[];
  close(): Promise<void>;
}

/**
 * Starts a proxy on loopback. It opens tunnels with `CONNECT`, and forwards requests with an absolute URL.
 *
 * All host names lead to this machine, so that tests can use names such as `mcp.example`.
 */
export async function startForwardProxy(options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const { credentials, challenge = 'Basic realm="proxy"', refuse, certificate } = options;
  const requests: ProxyRequest[] = [];
  const tunnels = new Set<Socket>();
  const sockets = new Set<Socket>();
  const clientCertificates: (string | undefined)[] = [];
  const expected = credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;

  /** Records a request. Returns the status with which it is refused. */
  function admit({ method = "", url: target = "", headers }: IncomingMessage, authority: string): number | undefined {
    requests.push({ method, target, headers });
    if (expected !== undefined && headers["proxy-authorization"] !== expected) return 407;
    return refuse?.(authority);
  }

  function forward(incoming: IncomingMessage, response: ServerResponse): void {
    const target = new URL(incoming.url ?? "");
    const status = admit(incoming, target.host);
    if (status !== undefined) {
      response.writeHead(status, { "proxy-authenticate": challenge }).end("refused");
      return;
    }
    const { "proxy-authorization": _, ...headers } = incoming.headers;
    const path = target.pathname + target.search;
    const outgoing = request({ host: "127.0.0.1", port: target.port, path, method: incoming.method, headers });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers).flushHeaders();
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  function openTunnel(incoming: IncomingMessage, socket: Socket): void {
    socket.on("error", () => {});
    const authority = incoming.url ?? "";
    const status = admit(incoming, authority);
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\nproxy-authenticate: ${challenge}\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(/\d+$/.exec(authority)?.[0]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream);
    tunnels.add(socket);
    upstream.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => {
      tunnels.delete(socket);
      sockets.delete(upstream);
      upstream.destroy();
    });
  }

  const secure = { ...certificate, requestCert: true, rejectUnauthorized: false };
  const server = certificate ? createSecureServer(secure, forward) : createServer(forward);
  server.on("secureConnection", (socket: TLSSocket) => {
    const { subject } = socket.getPeerCertificate();
    clientCertificates.push(subject && subject.CN);
  });
  server.on("connect", openTunnel);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${certificate ? "https" : "http"}://${host}`,
    host,
    requests,
    tunnels,
    clientCertificates,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
