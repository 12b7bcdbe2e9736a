import type { Root, Timeouts } from "mcparley/client";
import type { ConfiguredEntry } from "../renderer/trust.ts";
import type { InputLimits } from "../input/input-limits.ts";
import type { ServerTarget } from "../values/server-target.ts";

/** A server of a host, with its settings. */
export interface ServerSettings {
  /** The address of the server. */
  readonly target: ServerTarget;
  /**
   * The entry of a configuration file from which the target comes. Trust, review, rules and stored lists are then bound to everything that
   * the entry says, and not to the values of its references. Default: the target is one of the program itself.
   */
  readonly entry?: ConfiguredEntry | undefined;
  /** Whether the server is not used until `enable()` is called. Default: false. */
  readonly disabled?: boolean;
  /** Whether the host connects at once, and not with the first use. Default: false. */
  readonly eager?: boolean;
  /** Time limits of each call. Default: those of the client. */
  readonly timeout?: Timeouts;
  /** The protocol revision, such as `2025-11-25`. Default: negotiated. */
  readonly revision?: string;
  /** The roots to share with this server. Default: those of the host. */
  readonly roots?: readonly Root[];
  /** Limits on the input requests of this server. Default: those of the host. */
  readonly inputLimits?: Partial<InputLimits>;
}

/** A server of a host: its address, or its address with settings. */
export type ServerEntry = ServerTarget | ServerSettings;
