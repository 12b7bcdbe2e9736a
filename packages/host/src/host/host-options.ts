import type { CredentialStorage } from "mcparley/node";
import type { OAuthOptions, SignIn } from "mcparley/auth";
import type { Clock, Implementation } from "mcparley";
import type { Root } from "mcparley/client";
import type { Policy } from "../consent/policy.ts";
import type { HostEvent } from "./host-events.ts";
import type { InputLimits } from "../input/input-limits.ts";
import type { ModelSetting } from "../model/language-model.ts";
import type { ProviderName } from "../catalogue/providers.ts";
import type { Renderer } from "../renderer/renderer.ts";
import type { ServerEntry } from "../servers/server-entry.ts";

/** Options of `createHost`. */
export interface HostOptions {
  /** The servers by name. A name has 1 to 64 characters, and is shown to the user and to the model. */
  readonly servers?: Readonly<Record<string, ServerEntry>>;
  /** The name and version that the host sends to servers. Default: those of this library. */
  readonly info?: Implementation;
  /** The model for `run` and for sampling. If omitted, servers cannot request sampling, and `run` throws. */
  readonly model?: ModelSetting;
  /**
   * Maximum tries of a request to a model, of `run` and of sampling. A try is repeated after the HTTP statuses 408, 429 and 5xx, and
   * after connections that failed or ended before a part of the answer has arrived. 1 repeats nothing. Default: 4.
   */
  readonly modelTries?: number;
  /** The model provider whose rules the schemas of tools follow. Names follow the rules of all. Default: `common`. */
  readonly provider?: ProviderName;
  /** Asks the user. If omitted, everything that needs a question is denied. */
  readonly renderer?: Renderer;
  /** The rules of consent, in addition to those in the user's folder. */
  readonly policy?: Policy;
  /**
   * The folder of the user's rules, trust, pins and cached catalogues. `false` keeps all of it in memory, for tests. Default:
   * the folder `mcparley/host` in the user's configuration folder.
   */
  readonly folder?: string | false;
  /** The folders to share with servers. Default: none, and servers cannot request them. */
  readonly roots?: readonly Root[];
  /** Limits on the input requests of each server. */
  readonly inputLimits?: Partial<InputLimits>;
  /** Signs the user in at servers over HTTP, after `server.signIn()`. Default: none, and such servers stay in `needs-sign-in`. */
  readonly signIn?: SignIn;
  /** Whether sign-ins request `offline_access`, and bind tokens to a key (DPoP). Default: as in `oauth` of `mcparley/auth`. */
  readonly authorization?: Pick<OAuthOptions, "offlineAccess" | "dpop">;
  /** Stores the tokens of this user. Default: in memory. */
  readonly credentials?: CredentialStorage;
  /** Called with each event of the host. Its errors are ignored. */
  readonly onEvent?: (event: HostEvent) => void;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  readonly clock?: Clock;
}
