import { memoryPair } from "../../rpc/memory-transport.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { Transport } from "../../rpc/transport.ts";

/** The credentials that the requests to a target are sent with. */
export interface Credentials {
  /** A number that changes when a request is sent with other credentials than the request before. */
  readonly generation: number;
  /** Returns the generation of the credentials that a request would be sent with now. Sends no request to the target. */
  read(): Promise<number>;
}

/** Makes transports to one target, as often as they are needed. */
export interface TransportFactory {
  /**
   * `stream`: one stream carries all messages, as with a pipe, so a server may leave unknown messages unanswered. `http`:
   * the server answers each request, at least with a status.
   */
  readonly kind: "stream" | "http";
  /** The name of the target for error messages. It contains no secret. */
  readonly target: string;
  /**
   * Everything that selects the server, such as the environment of a program or the headers of a URL. The revision of a
   * server is remembered under a hash of it, so it may contain secrets. Default: `target`.
   */
  readonly identity?: string;
  /** The same target may be another server later, so its revision is not remembered. Default: false. */
  readonly transient?: boolean;
  /** `open` works only once, so a lost connection cannot be opened again. Default: false. */
  readonly once?: boolean;
  /** An extension that the transport implies. The client declares it like those of its options. */
  readonly extension?: string | undefined;
  /** The credentials of the requests. Undefined if they cannot change. */
  readonly credentials?: Credentials | undefined;
  /** Makes a transport that is not started yet. */
  open(): Transport;
  /**
   * Opens the transport of the first revision (HTTP+SSE) at the same address. Returns undefined if the server does not
   * have it, or if `refused`, the transport that refused `initialize`, excludes it.
   *
   * Rejects if the server has that transport but cannot be used.
   */
  openOlder?(options: {
    refused?: Transport;
    signal: AbortSignal | undefined;
    /** Maximum milliseconds until the server has opened it. */
    ms: number;
  }): Promise<Transport | undefined>;
}

/** The part of a reply that has arrived. */
export interface ReceivedPart {
  /** Bytes of the reply that have arrived. */
  readonly bytes: number;
  /** Bytes of the whole reply, if the server has announced them. */
  readonly total: number | undefined;
}

/** Receives the start and the end of one process of a `CommandTarget`. */
export interface ProcessListener {
  /** Called when the process has been created, with its id. On POSIX this is also the id of its process group. */
  started?(pid: number): void;
  /** Called when the process and its group have ended, or when the program could not be started. */
  ended?(): void;
}

/** A server program to start as a child process, found by its name or path. No shell reads the command. */
export interface CommandTarget {
  /** The program to start, a path or a name on `PATH`. It is not run in a shell. */
  command: string;
  /** Arguments of the program. Default: none. */
  args?: readonly string[];
  /** Environment variables to add to the few that are passed by default. See the guide "Client transports". */
  env?: Readonly<Record<string, string>>;
  /** Working directory of the program. Default: that of this process. */
  cwd?: string;
  /** Receives the output of the server on stderr. Its end is also part of errors. Default: "ignore". */
  stderr?: "inherit" | "ignore" | ((chunk: string) => void);
  /** Maximum bytes of one line of the server. Default: 16 MiB, or more for the reply to `resources/read`. */
  maxLineBytes?: number;
  /** Called for each part of a line that arrives in several parts, such as a large reply. Its errors go to `onError`. */
  onReceived?: (received: ReceivedPart) => void;
  /**
   * Called before each start of the program. The returned object, if any, receives the start and the end of the process,
   * for example to end it when this process crashes. Its errors go to `onError`.
   */
  onStart?: () => ProcessListener | undefined;
}

/** The caller that `connect` names to a server of this process. */
export interface InProcessCaller {
  /** The caller of all requests. Undefined if `connect` has no option `principal`. */
  principal?: { readonly issuer: string; readonly subject: string; readonly scopes: readonly string[] } | undefined;
}

/** A server that can be connected to a transport: of this library, or a custom one. */
export interface InProcessServer {
  /** Serves one transport. Called for each connection, with the options of `connect` for such a server. */
  attach(transport: Transport, options?: InProcessCaller): Promise<unknown>;
  /** Name of the server, for error messages. */
  readonly name?: unknown;
}

/** Makes transports to a server in this process. Each is attached to the server separately. */
export function serverTransports(server: InProcessServer, options?: InProcessCaller): TransportFactory {
  const name = typeof server.name === "string" ? server.name : "server";
  return {
    kind: "stream",
    target: `memory:${name}`,
    transient: true,
    open() {
      const [ours, theirs] = memoryPair();
      return {
        ...ours,
        async start(receiver) {
          await ours.start(receiver);
          await server.attach(theirs, options);
        },
      };
    },
  };
}

/** The transports of callers that are open. */
const inUse = new WeakSet<Transport>();

/** Wraps a transport of the caller, which can be opened only once. `open` throws if another client uses it. */
export function customTransport(transport: Transport): TransportFactory {
  return {
    kind: "stream",
    target: "transport",
    transient: true,
    once: true,
    open() {
      if (inUse.has(transport)) {
        const cure = "Create one transport for each client.";
        throw new LocalError("invalid_target", `The Transport is already used by another client. ${cure}`);
      }
      inUse.add(transport);
      return releasing(transport);
    },
  };
}

/** Returns a transport that another client can use after it is closed. */
function releasing(transport: Transport): Transport {
  const release = (): void => void inUse.delete(transport);
  return {
    network: transport.network,
    start: (receiver) =>
      transport.start({
        ...receiver,
        closed(cause) {
          release();
          receiver.closed(cause);
        },
      }),
    send: (message, envelope) => transport.send(message, envelope),
    close: () => transport.close().finally(release),
  };
}
