import type { SignIn } from "mcparley/auth";
import type { Browser } from "./browser.ts";

/** Has the person in front of a browser sign in; they come back to an address at which nothing listens. */
export function signInWith(browser: Browser, redirectUri = "http://127.0.0.1:9/callback"): SignIn {
  return {
    prepare: () =>
      Promise.resolve({ redirectUri, visit: (url) => browser.signIn(url), close: () => Promise.resolve() }),
  };
}
