import type { Clock } from "mcparley";
import type { ServerInfo } from "mcparley/client";
import type { ServerLists } from "../catalogue/server-lists.ts";
import type { StateStorage } from "../state/state-storage.ts";
import type { ChangeList } from "./known-lists.ts";
import type { PassedOptions, PreparedTarget } from "./open-connection.ts";
import type { SignInSetting } from "./server-auth.ts";
import type { ServerEvent } from "./server-state.ts";

/** The parts of a program that its supervised servers need. */
export interface SupervisorSetting {
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
  /** Applied to each list of the server. Default: unchanged. */
  readonly changeList?: ChangeList;
  /** Applied to the description of the server. Default: unchanged. */
  readonly changeInfo?: (info: ServerInfo) => ServerInfo;
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
