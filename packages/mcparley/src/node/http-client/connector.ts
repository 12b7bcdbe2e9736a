import type { Socket } from "node:net";
import type { HttpConnection } from "../../http/client/settings.ts";
import { buildConnector } from "#undici";
import type { Proxy } from "./proxy.ts";

type Options = Parameters<buildConnector.connector>[0];
type Callback = (...args: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

/** Opens the socket of a connection. The returned object ends the attempt. */
export type Connector = (options: Options, callback: Callback) => { destroy(): unknown };

/** Opens sockets to an origin, through the proxy if there is one. */
export type ConnectorFor = (url: URL, proxy: Proxy | undefined) => Connector;

/** TCP keep-alive probes start after these milliseconds, as in undici. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Returns the function that makes connectors. Connecting, with name lookup, proxy and TLS, takes at most `connectMs`.
 *
 * The code for proxies and certificates is loaded when a connection needs it, because most programs use neither.
 */
export function connectors(connectMs: number, connection: HttpConnection = {}): ConnectorFor {
  // All origins share its sessions of TLS.
  const plain = buildConnector({ timeout: connectMs }) as unknown as Connector;
  const { ca, cert, key } = connection;
  const hasCertificates = ca !== undefined || cert !== undefined || key !== undefined;
  let certified: Promise<Connector> | undefined;

  async function loadCertified(): Promise<Connector> {
    const { secureContextOf } = await import("./certificates.ts");
    const secureContext = secureContextOf(connection, process.env);
    return buildConnector({ timeout: connectMs, ...(secureContext && { secureContext }) }) as unknown as Connector;
  }

  async function loadTunnel(url: URL, proxy: Proxy): Promise<(signal: AbortSignal) => Promise<Socket>> {
    const [{ connectToProxy, openTunnel }, { routeThrough }] = await Promise.all([
      import("./tunnel.ts"),
      import("./route.ts"),
    ]);
    const route = routeThrough(proxy, connection, process.env);
    const opened = url.protocol === "https:" ? openTunnel : connectToProxy;
    return (signal) => opened(url, { ...route, signal });
  }

  return (url, proxy) => {
    if (proxy) {
      let tunnel: ReturnType<typeof loadTunnel> | undefined;
      return withTimeout(connectMs, async (_, signal) => (await (tunnel ??= loadTunnel(url, proxy)))(signal));
    }
    if (!hasCertificates) return plain;
    return withTimeout(connectMs, async (options, signal) =>
      open(await (certified ??= loadCertified()), options, signal),
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
function withTimeout(ms: number, opened: (options: Options, signal: AbortSignal) => Promise<Socket>): Connector {
  return (options, callback) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const error = new Error(`No connection within ${ms} ms`);
      controller.abort(Object.assign(error, { code: "ETIMEDOUT", syscall: "connect" }));
    }, ms);
    opened(options, controller.signal)
      .finally(() => clearTimeout(timer))
      .then(
        (socket) => callback(null, socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS)),
        (error: unknown) => callback(error as Error, null),
      );
    return { destroy: () => controller.abort(new Error("The connection is no longer needed.")) };
  };
}
