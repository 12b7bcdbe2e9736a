import type { Clock } from "mcparley";
import type { CommandTarget, ConnectOptions, HttpTarget, InProcessServer, ServerInfo, Timeouts } from "mcparley/client";
import type { ServerLists } from "../catalogue/catalogue.ts";
import type { StateStorage } from "../state/state-storage.ts";
import type { CredentialStorage, OAuthOptions, SignIn, SignInPurpose } from "mcparley/auth";
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

/** The target of a server, by its kind. */
export type ResolvedTarget =
  | { readonly kind: "http"; readonly target: HttpTarget & { readonly url: URL } }
  | { readonly kind: "command"; readonly target: CommandTarget }
  | { readonly kind: "in-process"; readonly target: InProcessServer };

/** A server to supervise: its name, its target and the settings of its supervision. */
export interface SupervisedEntry {
  readonly name: string;
  readonly server: ResolvedTarget;
  readonly settings: {
    /** Whether the server is not used until `enable()` is called. Default: false. */
    readonly disabled?: boolean;
    /** Whether it is connected at once, and not with the first use. Default: false. */
    readonly eager?: boolean;
    readonly timeout?: Timeouts;
    /** The digest of the entry in a file from which the target comes. Stored lists are then bound to it, and not to the target. */
    readonly entry?: { readonly digest: string } | undefined;
  };
}

/** A target that can be passed to `connect`. */
export type PreparedTarget = CommandTarget | HttpTarget | InProcessServer;

/** The options of `connect` that other parts of the host make: elicitation, sampling, roots, extensions, logs. */
export type PassedOptions = Omit<ConnectOptions, "clock" | "onError" | "signal" | "timeout" | "maxListBytes">;

/** Returns a list of a server as it is stored, such as without secrets. */
export type ChangeList = <T extends readonly object[]>(list: T) => T;

/** The sign-in of the user, and the storage of the tokens. */
export interface SignInSetting {
  /** Asks the user to sign in. If omitted, `signIn()` rejects. */
  readonly signIn?: SignIn | undefined;
  /** Resolves with whether the user agreed to sign in for the scopes that a call needs. Undefined if nobody was asked. */
  readonly confirmScopes?: (purpose: SignInPurpose, signal: AbortSignal) => Promise<boolean | undefined>;
  /** Options for the requested tokens. Default: those of `oauth`. */
  readonly authorization?: Pick<OAuthOptions, "offlineAccess" | "dpop"> | undefined;
  /** Stores the tokens. Default: in memory, for this server of this host. */
  readonly credentials?: CredentialStorage | undefined;
  /** Returns a storage that observes the stored credentials, so that they can be hidden. Default: unchanged. */
  readonly watchStorage?: (storage: CredentialStorage) => CredentialStorage;
  /** Called with a line of text for each step of a sign-in or renewal, without secrets. */
  readonly onStep?: (step: string) => void;
  /** Called after a request for more scopes has succeeded: the server may list other entries for the new token. */
  readonly onNewScopes?: () => void;
  readonly clock: Clock;
}
