import { existsSync } from "node:fs";
import type { CredentialStorage, GivenClient, OAuth } from "mcparley/auth";
import type { HttpAuth } from "mcparley/client";
import { UsageError } from "../io.ts";
import type { ClientOptions } from "../options.ts";
import type { Screen } from "../screen.ts";
import type { Target } from "../target.ts";
import { type CredentialsPlace, credentialsPlace } from "./credentials-place.ts";
import { readClient } from "./remembered-client.ts";
import { type SignInSetting, signInWay } from "./sign-in-way.ts";

/** Milliseconds after which a wait is explained. */
const patience = 1_500;

export interface AuthorizationSetting extends SignInSetting {
  readonly options: ClientOptions;
  readonly server: string;
}

export interface OpenAuthorization {
  readonly oauth: OAuth;
  readonly place: CredentialsPlace;
  readonly storage: CredentialStorage;
  /** The client that was given, now or at the login; undefined where one registers itself. */
  readonly client: GivenClient | undefined;
}

/** Makes what signs in to a server, with the client that was given, now or at the login. */
export async function openAuthorization(setting: AuthorizationSetting): Promise<OpenAuthorization> {
  const { io, options, server } = setting;
  const given = givenClient(setting);
  const place = credentialsPlace(io, options.keychain);
  const [{ oauth }, storage, signIn] = await Promise.all([
    import("mcparley/auth"),
    openStorage(place, setting.screen),
    signInWay(setting),
  ]);
  const client = given ?? (await readClient(storage, server));
  const { issuer = client?.issuer, scope } = options;
  return {
    place,
    storage,
    client,
    oauth: oauth({
      storage,
      signIn,
      ...(client && { client }),
      ...(issuer !== undefined && { issuer }),
      ...(scope !== undefined && { scope }),
      onError: (error) => {
        if (options.verbose) setting.screen.note(error.message);
      },
    }),
  };
}

async function openStorage({ folder, usesKeychain }: CredentialsPlace, screen: Screen): Promise<CredentialStorage> {
  const { fileCredentials, keychain } = await import("mcparley/node");
  const storage = fileCredentials(folder, usesKeychain ? { key: keychain() } : {});
  return {
    get: (key) => storage.get(key),
    compareAndSet: (key, expected, value) => storage.compareAndSet(key, expected, value),
    async exclusively(key, work) {
      const note = (): void => screen.note("Waiting for another mcparley that is signing in ...");
      const timer = setTimeout(note, patience);
      const begin = (): ReturnType<typeof work> => {
        clearTimeout(timer);
        return work();
      };
      return storage.exclusively(key, begin).finally(() => clearTimeout(timer));
    },
  };
}

function givenClient({ io, options }: AuthorizationSetting): GivenClient | undefined {
  const { clientId: id, clientSecretEnv, issuer } = options;
  if (id === undefined) {
    if (clientSecretEnv === undefined) return undefined;
    throw new UsageError("--client-secret-env is the secret of a client; name that by --client-id.");
  }
  const secret = clientSecretEnv === undefined ? undefined : io.env[clientSecretEnv];
  if (clientSecretEnv !== undefined && !secret) {
    throw new UsageError(`There is no ${clientSecretEnv} in the environment, which --client-secret-env names.`);
  }
  return { id, ...(secret !== undefined && { secret }), ...(issuer !== undefined && { issuer }) };
}

/** How the requests of a session are authorized. */
export interface SessionAuth extends HttpAuth {
  /** Whether requests show that somebody has signed in. */
  isSignedIn(): boolean;
  /**
   * Runs work that may be refused for want of scopes, and then asks for these; the refused request is not repeated. Gives
   * what came of the work, or undefined where there are more scopes now.
   */
  askForMore<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Settles once no sign-in is under way, also none that nobody waits for any more. */
  settled(): Promise<void>;
}

/**
 * Authorizes the requests of a session, and signs in when the server asks for it. What that takes is loaded once
 * somebody has signed in anywhere, or has to.
 */
export function sessionAuth(setting: AuthorizationSetting): SessionAuth {
  const { folder } = credentialsPlace(setting.io, setting.options.keychain);
  let isSignedIn = false;
  let asking: { hasMore: boolean } | undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  let opened: Promise<OAuth> | undefined;
  let loaded: OAuth | undefined;
  const open = (): Promise<OAuth> =>
    (opened ??= openAuthorization(setting).then(({ oauth }) => {
      loaded = oauth;
      return oauth;
    }));
  return {
    async headers(request) {
      const headers = opened || existsSync(folder) ? await (await open()).headers(request) : {};
      isSignedIn = Object.keys(headers).length > 0;
      return headers;
    },
    responded: (request, response) => loaded?.responded?.(request, response) ?? false,
    async challenged(refusal, signal) {
      const work = open().then((oauth) => oauth.challenged(refusal, signal));
      underWay = Promise.allSettled([underWay, work]);
      const isNew = await work;
      if (!isNew || !asking || refusal.status !== 403) return isNew;
      asking.hasMore = true;
      return false;
    },
    async settled() {
      await underWay;
    },
    isSignedIn: () => isSignedIn,
    async askForMore(work) {
      const mine = { hasMore: false };
      asking = mine;
      try {
        return await work();
      } catch (error) {
        if (!mine.hasMore) throw error;
        return undefined;
      } finally {
        asking = undefined;
      }
    },
  };
}

/** The URL of the server that a command about one's account there is for. */
export function serverUrl(target: Target, command: string): string {
  if (target.kind === "url") return target.url;
  throw new UsageError(
    `${command} is for servers at a URL; "${target.command}" is started as a program.`,
    "A program has its credentials from the environment: --env NAME=VALUE",
  );
}
