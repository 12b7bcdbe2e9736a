import type { Clock } from "mcparley";
import type { Client } from "mcparley/client";
import type { ServerLists } from "../catalogue/server-lists.ts";
import type { HostServer, ServerEvent } from "./server-state.ts";
import type { ServerEntry } from "./server-entry.ts";
import type { StateStorage } from "../state/state-storage.ts";
import type { VersionedLists } from "./known-lists.ts";
import type { PassedOptions, PreparedTarget } from "./open-connection.ts";
import { resolveEntry } from "./resolve-entry.ts";
import type { SignInSetting } from "./server-auth.ts";
import { Supervisor } from "./supervisor.ts";
import type { WatchedResource } from "./watched-resources.ts";

/** A server of a host, with the functions for the host's own code. */
export interface SupervisedServer extends HostServer {
  /**
   * Runs `work` with an open connection. Connects if none is open.
   *
   * Rejects with `LocalError` whose `data.safeToRepeat` is true if there is no connection and none can be opened now. The
   * message names the reason and the cure, `data.server` is the name of the server, and `cause` the reason. An abort of the signal
   * ends the wait for the connection, but not the attempt, which other callers may wait for.
   */
  use<T>(this: void, work: (client: Client) => Promise<T>, options?: { signal?: AbortSignal | undefined }): Promise<T>;
  /** Returns the lists and their version, which changes with each change of a definition. */
  listsNow(this: void): VersionedLists;
  /**
   * Calls the listener with the URI of each update of a resource or of its parts, while a connection is open, and once after
   * each reconnect and each loss of the subscription. Opens no connection.
   */
  watch(this: void, uri: string, listener: (uri: string) => void): WatchedResource;
  /** Resolves when the stored lists were read and no attempt to connect is running. Never rejects. */
  settled(this: void): Promise<void>;
  /** Closes the connection and stops everything. Nothing runs and no timer is set afterwards. */
  close(this: void): Promise<void>;
}

/** The parts of the host that a server needs. */
export interface SupervisorSetting {
  readonly name: string;
  readonly entry: ServerEntry;
  /** Elicitation, sampling, roots, extensions and other options of `connect`. Default: none. */
  readonly connectOptions?: PassedOptions;
  /**
   * Called before each attempt to connect, for the consent of the user. If it rejects with `declined` (`Declined` of
   * `mcparley`), the server is `failed` until `reconnect()`. Default: consent is given.
   */
  readonly admit?: (signal: AbortSignal) => Promise<void>;
  /** Returns the target to connect to. Called in each attempt. Default: the given target. */
  readonly prepareTarget?: (target: PreparedTarget) => PreparedTarget;
  readonly auth?: Omit<SignInSetting, "clock">;
  /** Returns a value without the secrets of the host. It is applied to the lists and the description. Default: unchanged. */
  readonly hideSecrets?: <T>(value: T) => T;
  /** Stores the lists. */
  readonly storage: StateStorage;
  readonly clock?: Clock;
  /** Called before the attempt of `reconnect()` and `signIn()`. */
  readonly onReconnect?: () => void;
  /** Called with each change of the state. */
  readonly onEvent?: (event: ServerEvent) => void;
  /**
   * Called when a definition or the instructions have changed, and with the first lists after `reconnect()` and `signIn()`. Called
   * with undefined when the server is disabled.
   */
  readonly onLists?: (lists: ServerLists | undefined) => void;
  /** Called with the URI of each updated resource that is watched. */
  readonly onUpdated?: (uri: string) => void;
  /** Called with each error that fails no call. */
  readonly onError?: (error: Error) => void;
}

/**
 * Returns a server that connects with its first use, and recovers from the loss of its connection. With `eager` it connects
 * at once.
 *
 * Throws `LocalError` `invalid_target` if the name or the entry cannot be used.
 */
export function superviseServer(setting: SupervisorSetting): SupervisedServer {
  const supervisor = new Supervisor(resolveEntry(setting.name, setting.entry), setting);
  return {
    get name() {
      return setting.name;
    },
    get state() {
      return supervisor.state;
    },
    get error() {
      return supervisor.error;
    },
    get retryAt() {
      return supervisor.retryAt;
    },
    get info() {
      return supervisor.info;
    },
    get lists() {
      return supervisor.listsNow().lists;
    },
    use: (work, options) => supervisor.use(work, options?.signal),
    listsNow: () => supervisor.listsNow(),
    watch: (uri, listener) => supervisor.watched.watch(uri, listener),
    settled: () => supervisor.settled(),
    connect: () => supervisor.connect(),
    reconnect: () => supervisor.reconnect({ signsIn: false }),
    signIn: ({ scope } = {}) => supervisor.reconnect({ signsIn: true, scope }),
    enable: () => supervisor.enable(),
    disable: () => supervisor.disable(),
    close: () => supervisor.close(),
  };
}
