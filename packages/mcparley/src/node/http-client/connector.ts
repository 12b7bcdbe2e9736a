import type { Socket } from "node:net";
import type { HttpConnection } from "../../http/client/settings.ts";
import { buildConnector } from "#undici";
import { secureContextOf } from "./certificates.ts";
import type { Proxy } from "./proxy.ts";
import { type ProxyRoute, routeThrough } from "./route.ts";
import { connectToProxy, openTunnel } from "./tunnel.ts";

type Options = Parameters<buildConnector.connector>[0];
type Callback = (...args: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

/** Opens the socket of a connection. The returned object ends the attempt. */
export type Connector = (options: Options, callback: Callback) => { destroy(): unknown };

/** Opens sockets to an origin, through the proxy if there is one. */
export type ConnectorFor = (url: URL, proxy: Proxy | undefined) => Connector;

/** TCP keep-alive probes start after these milliseconds, as in undici. */
const KEEP_ALIVE_MS = 60_000;

/** Returns the function that makes connectors. Connecting, with name lookup, proxy and TLS, takes at most `connectMs`. */
export function connectors(connectMs: number, connection: HttpConnection = {}): ConnectorFor {
  // All origins share its sessions of TLS.
  const plain = buildConnector({ timeout: connectMs }) as unknown as Connector;
  const { ca, cert, key } = connection;
  const hasCertificates = ca !== undefined || cert !== undefined || key !== undefined;
  let certificateConnector: Connector | undefined;

  function withCertificates(): Connector {
    const secureContext = secureContextOf(connection, process.env);
    return buildConnector({ timeout: connectMs, ...(secureContext && { secureContext }) }) as unknown as Connector;
  }

  return (url, proxy) => {
    if (proxy) {
      let route: ProxyRoute | undefined;
      const connect = url.protocol === "https:" ? openTunnel : connectToProxy;
      return withTimeout(connectMs, async (_, signal) => {
        route ??= routeThrough(proxy, connection, process.env);
        return connect(url, { ...route, signal });
      });
    }
    if (!hasCertificates) return plain;
    return withTimeout(connectMs, async (options, signal) =>
      open((certificateConnector ??= withCertificates()), options, signal),
    );
  };
}

/** Calls a connector. The signal ends the attempt. */
function open(connector: Connector, options: Options, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const attempt = connector(options, (error, socket) => (error ? reject(error) : resolve(socket)));
    signal.addEventListener("abort", () => {
      attempt.destroy();
      reject(signal.reason as Error);
    });
  });
}

/** Returns a connector that opens the socket asynchronously, within a time limit. */
function withTimeout(ms: number, openSocket: (options: Options, signal: AbortSignal) => Promise<Socket>): Connector {
  return (options, callback) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const error = new Error(`No connection within ${ms} ms`);
      controller.abort(Object.assign(error, { code: "ETIMEDOUT", syscall: "connect" }));
    }, ms);
    openSocket(options, controller.signal)
      .finally(() => clearTimeout(timer))
      .then(
        (socket) => callback(null, socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS)),
        (error: unknown) => callback(error as Error, null),
      );
    return { destroy: () => controller.abort(new Error("The connection is no longer needed.")) };
  };
}
