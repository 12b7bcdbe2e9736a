import type { Clock } from "../../rpc/clock.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Implementation } from "../../mcp/capabilities.ts";
import type { CacheHint } from "../../mcp/resources.ts";
import type { CustomNotification } from "../../mcp/custom-notifications.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import type { ClientSession, Context } from "./context.ts";
import type { Prompt, Resource, Tool } from "./definition-types.ts";
import type { ServerExtension } from "./extension.ts";
import type { ServerObserver } from "./observer.ts";
import type { Store } from "../../store/store.ts";

/** Limits on the resources that clients can use. A request over a limit is rejected. */
export interface ServerLimits {
  /** Requests in flight over HTTP at one endpoint, from all callers. The same number of POSTs can be read at once. Default: 10,240. */
  requests: number;
  /** Calls in flight on one connection or session, and requests in flight over HTTP from one caller. Default: 1,024. */
  inFlight: number;
  /** Bytes of request bodies that one endpoint is reading or answering. Default: 256 MiB. */
  bodies: number;
  /**
   * Bytes of replies and events that clients of one endpoint have not read. One caller may leave half of them unread, and one stream a
   * quarter. Above it, connections are closed that their client does not read. With `toFetch`, only event streams count. Default: 256 MiB.
   */
  unread: number;
  /** Open `subscriptions/listen` streams of the whole server. Default: 1,024. */
  listenStreams: number;
  /**
   * Characters that a session or a `subscriptions/listen` stream keeps of its client: as JSON, the client's name,
   * capabilities and revision, and the subscribed URIs. Default: 65,536.
   */
  sessionSize: number;
  /** Resources to which one session or `subscriptions/listen` stream may be subscribed. Default: 1,000. */
  subscriptions: number;
  /** Characters of the URI of a subscribed resource. Default: 2,048. */
  uriLength: number;
  /** Characters of a request id or progress token. Default: 1,024. */
  idLength: number;
  /** Characters of the value to complete, and of each argument that is filled in already. Default: 1,024. */
  completionLength: number;
  /** Entries on one page of a list. Default: 1,000, because many clients never request a second page. */
  pageSize: number;
  /** Nesting of a call's arguments, of any other member of a request's params, and of an answer to an input request. Default: 64. */
  depth: number;
  /** Properties and items in the values that `depth` limits, at all depths. Default: 100,000. */
  elements: number;
  /** Messages in one batch, on revisions that have batches. Default: 100. */
  batch: number;
  /** Milliseconds to wait for a client's response to an input request. Default: 10 minutes. */
  askTimeout: number;
  /** Milliseconds after which the sealed state of a call expires. Default: 30 minutes. */
  stateTtl: number;
  /**
   * Progress notifications and log messages of one call in a second. Over it, only the newest progress is sent, at the end of
   * the second or before the reply. Log messages are left out, and a warning contains their number. Default: 1,000.
   */
  notificationRate: number;
}

export const defaultLimits: ServerLimits = {
  requests: 10_240,
  inFlight: 1024,
  bodies: 256 * 1024 * 1024,
  unread: 256 * 1024 * 1024,
  listenStreams: 1024,
  sessionSize: 65_536,
  subscriptions: 1000,
  uriLength: 2048,
  idLength: 1024,
  completionLength: 1024,
  pageSize: 1000,
  depth: 64,
  elements: 100_000,
  batch: 100,
  askTimeout: 600_000,
  stateTtl: 1_800_000,
  notificationRate: 1000,
};

/** The optional capabilities of a server that it can leave out. */
export interface CapabilityChoice {
  /** Whether clients are notified when the list of tools, prompts or resources changes. Default: true. */
  listChanged?: boolean;
  /** Whether clients can subscribe to resources. Default: true. */
  subscribe?: boolean;
  /** Whether the log messages of handlers are sent to clients. Default: true. */
  logging?: boolean;
}

/** A record of definitions by name. The text is part of the compiler's message if an array is passed. */
type ByName<T, D> = Record<string, D> &
  (T extends readonly unknown[] ? { "Pass a record by name, such as { add, subtract }": never } : unknown);

/** Definition of a server. Only `name` and `version` are required. */
export interface ServerDefinition<T, P, R, C extends object> extends Implementation {
  /** Instructions for the model on how to use this server. */
  instructions?: string;
  /** The tools by name. Default: none. */
  tools?: T & ByName<T, Tool<any, any, NoInfer<C>>>;
  /** The prompts by name. Default: none. */
  prompts?: P & ByName<P, Prompt<any, NoInfer<C>>>;
  /** The resources and resource templates by name. Default: none. */
  resources?: R & ByName<R, Resource<any, NoInfer<C>>>;
  /** Extensions of the protocol, such as `tasks()`, `skills()` and `apps()`. Default: none. */
  extensions?: readonly ServerExtension[];
  /** The optional capabilities that the server leaves out, such as `{ listChanged: false }`. Default: it has all. */
  capabilities?: CapabilityChoice;
  /** Experimental capabilities to declare, by name. Those of the client are in `ctx.peer.capabilities.experimental`. */
  experimental?: Record<string, JsonObject>;
  /**
   * The protocol revisions to serve, such as `["2026-07-28"]`. A client of another revision gets an error with this list.
   * Default: all that the library implements.
   */
  revisions?: readonly string[];
  /**
   * Milliseconds between two pings of a client of a legacy revision, and the time that it has to answer one. If it does not
   * answer two in a row, its connection or standalone stream is closed. Default: no pings.
   */
  pingInterval?: number;
  /**
   * Returns properties to add to the context of each handler. Called once per call, before the handler. See `withContext` for
   * the types of such handlers. Default: adds none.
   */
  context?: (call: Context) => C | Promise<C>;
  /** How long clients may cache lists. Default: 0 ms and public. A list with entries that require scopes is always private. */
  listCache?: Partial<CacheHint>;
  /** Limits on the resources that clients can use. Each has a default. */
  limits?: Partial<ServerLimits>;
  /**
   * Receives each error of a handler that is hidden from the client, which gets "Internal error", and each error of an
   * observer. Default: writes to the console, unless an observer receives errors, such as `logTo`.
   */
  onError?: (error: unknown, call: Context | undefined) => void;
  /**
   * Receives each warning about the definition of the server, once: names of tools that model providers refuse, definitions
   * whose scopes no caller of a connection can have, and forms that ask for secrets. Default: writes to the console, which is
   * stderr.
   */
  onWarning?: (warning: string) => void;
  /**
   * Receive calls, rejected requests, ended sessions and errors: `logTo(logger)`, `auditTo(write)`, `telemetry()` of
   * `mcparley/otel`, or custom ones. The first is the outermost. Default: none.
   */
  observers?: readonly ServerObserver[];
  /**
   * Called with the session of a client whose roots changed. `ctx.roots()` returns the new roots in its next call. Only on
   * revisions up to 2025-11-25.
   */
  onRootsChanged?: (session: ClientSession) => void;
  /**
   * Called with each notification of a client that MCP does not define, and with the session that sent it. The session is
   * undefined in modern revisions. The notification is not validated. Notifications of one session are handled one after
   * another: the next one waits for the returned promise. Further ones are dropped if 100 wait.
   */
  onNotification?: (notification: CustomNotification, session: ClientSession | undefined) => Awaitable<unknown>;
  /**
   * Keeps state that several processes share or that outlives a process: sessions of legacy revisions over HTTP, events of
   * their streams, changes for subscriptions, tasks, rate limits, used DPoP proofs, and the keys that seal the state of calls.
   * Processes that use one store and the same `name` are one server; servers with different names share nothing. The caller
   * closes the store.
   *
   * Default: none. Each process then keeps its sessions, tasks, rate limits and used proofs in memory, and streams cannot be
   * resumed.
   */
  store?: Store;
  /**
   * Returns the version of the content after a change, such as a digest of it. For a server whose processes follow one
   * source, such as a folder, and share a `store`: each process notices each change, and each client is notified once.
   * Other processes send the change a second later, when all of them have the new content.
   *
   * Default: no versions. Each change of each process is then sent to all clients.
   */
  changeVersion?: (change: { list: "tools" | "prompts" | "resources" } | { uri: string }) => string | undefined;
  /**
   * Keys of 32 bytes that seal the state of calls: the first key seals, and all keys open. Default: keys that are kept in the
   * `store` and replaced every day; without a store, a random key for each process.
   */
  stateKeys?: readonly Uint8Array[];
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

export type AnyServerDefinition = ServerDefinition<
  Record<string, Tool>,
  Record<string, Prompt>,
  Record<string, Resource>,
  any
>;
