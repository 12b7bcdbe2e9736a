import { existsSync } from "node:fs";
import type { OAuth } from "mcparley/auth";
import type { HttpAuth } from "mcparley/client";
import type { AuthorizationSetting, OpenAuthorization } from "./authorization.ts";
import { credentialsPlace } from "./credentials-place.ts";

/** The authorization of a session's requests. */
export interface SessionAuth extends HttpAuth {
  /** Returns whether the last request had credentials. */
  isSignedIn(): boolean;
  /**
   * Runs work that the server may refuse because of missing scopes. If so, requests these scopes, and does not repeat
   * the work. Returns the result of the work, or undefined if new scopes were granted.
   */
  askForMore<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Resolves when no sign-in is running, including abandoned ones. */
  waitUntilSettled(): Promise<void>;
}

/** Opens the authorization at a server. Other commands do not wait for its code. */
export async function openAuthorization(setting: AuthorizationSetting): Promise<OpenAuthorization> {
  const code = await import("./authorization.ts");
  return code.openAuthorization(setting);
}

/** Authorizes the requests of a session, and signs in when the server requires it. */
export function sessionAuth(setting: AuthorizationSetting): SessionAuth {
  const { folder } = credentialsPlace(setting.io, setting.options.keychain);
  let isSignedIn = false;
  let asking: { hasMore: boolean } | undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  let opening: Promise<OAuth> | undefined;
  let openedAuth: OAuth | undefined;
  const open = (): Promise<OAuth> =>
    (opening ??= openAuthorization(setting).then(({ oauth }) => {
      openedAuth = oauth;
      return oauth;
    }));
  return {
    async headers(request) {
      const headers = opening || existsSync(folder) ? await (await open()).headers(request) : {};
      isSignedIn = Object.keys(headers).length > 0;
      return headers;
    },
    responded: (request, response) => openedAuth?.responded?.(request, response) ?? false,
    async challenged(refusal, signal) {
      const work = open().then((oauth) => oauth.challenged(refusal, signal));
      underWay = Promise.allSettled([underWay, work]);
      // The time of a sign-in does not count for `--timeout`.
      const resume = setting.stop.pause();
      const isNew = await work.finally(resume);
      if (!isNew || !asking || refusal.status !== 403) return isNew;
      asking.hasMore = true;
      return false;
    },
    async waitUntilSettled() {
      await underWay;
    },
    isSignedIn: () => isSignedIn,
    async askForMore(work) {
      const attempt = { hasMore: false };
      asking = attempt;
      try {
        return await work();
      } catch (error) {
        if (!attempt.hasMore) throw error;
        return undefined;
      } finally {
        asking = undefined;
      }
    },
  };
}
