import type { AuthorizationServer } from "oauth4webapi";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { discoverIssuer } from "../client/well-known.ts";
import { type GuardedFetch, makeGuardedFetch } from "../client/guarded-fetch.ts";
import { Cooldown } from "./cooldown.ts";

const hour = 3_600_000;
const pause = 5_000;
const timeout = 5_000;

/** Makes the `fetch` for what an authorization server is asked: its addresses are this server's own configuration. */
export function trustedFetch(fetch: typeof globalThis.fetch | undefined, clock: Clock): GuardedFetch {
  return makeGuardedFetch({ allowPrivate: true, fetch, clock, timeout });
}

/** The metadata of one authorization server: looked up when it is needed first, and again after an hour. */
export class IssuerMetadata {
  readonly #issuer: string;
  readonly #fetch: GuardedFetch;
  readonly #clock: Clock;
  readonly #cooldown: Cooldown<AuthorizationServer>;
  #known: { metadata: AuthorizationServer; until: number } | undefined;

  constructor(issuer: string, fetch: GuardedFetch, clock: Clock) {
    this.#issuer = issuer;
    this.#fetch = fetch;
    this.#clock = clock;
    this.#cooldown = new Cooldown({ clock, pause });
  }

  /** Rejects with `LocalError` `unreachable` where it cannot be had. */
  async get(): Promise<AuthorizationServer> {
    if (this.#known && this.#clock.now() < this.#known.until) return this.#known.metadata;
    try {
      const metadata = await this.#cooldown.run(() => discoverIssuer(this.#fetch, this.#issuer));
      this.#known = { metadata, until: this.#clock.now() + hour };
      return metadata;
    } catch (cause) {
      // What was known an hour ago is better than refusing everyone for as long as the other side is down.
      if (this.#known) return this.#known.metadata;
      throw noAnswer(this.#issuer, "has no metadata that could be read", cause);
    }
  }
}

/** The error for an authorization server that cannot be asked, so that nothing is known of a token. */
export function noAnswer(issuer: string, why: string, cause?: unknown): LocalError {
  return new LocalError("unreachable", `The authorization server ${issuer} ${why}: its tokens cannot be checked.`, {
    cause,
  });
}
