import type { Clock } from "../../rpc/clock.ts";
import type { AuthorizationOptions } from "./authorization-options.ts";
import type { CredentialStorage } from "./credential-storage.ts";
import type { DpopKeys } from "./dpop.ts";
import type { Grant } from "./grant.ts";
import { type GuardedFetch, makeGuardedFetch } from "./guarded-fetch.ts";
import { isPrivateHost } from "../../net/private-address.ts";

/** What the authorizations for different servers share. */
export interface AuthorizationCore {
  readonly options: AuthorizationOptions;
  readonly grant: Grant;
  readonly storage: CredentialStorage;
  readonly clock: Clock;
  /** The keys that tokens are bound to, where they are. */
  readonly dpop: DpopKeys;
}

/** Whether authorization for this server may lead into private networks: only where it is on one itself. */
export function mayBePrivate({ options }: AuthorizationCore, server: URL): boolean {
  return options.allowPrivateNetwork ?? isPrivateHost(server.hostname);
}

/** The `fetch` for all that is asked of others to authorize requests to this server. */
export function fetchFor(core: AuthorizationCore, server: URL): GuardedFetch {
  const { options, clock } = core;
  return makeGuardedFetch({ allowPrivate: mayBePrivate(core, server), fetch: options.fetch, clock });
}
