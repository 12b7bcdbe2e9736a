import { existsSync } from "node:fs";
import type { OAuth } from "mcparley/auth";
import type { HttpAuth } from "mcparley/client";
import { type AuthorizationSetting, openAuthorization } from "./authorization.ts";
import { credentialsPlace } from "./credentials.ts";

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
