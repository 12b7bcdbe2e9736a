import type { SignIn } from "mcparley/auth";
import type { Browser } from "./browser.ts";

/** Signs in with a browser. The redirect URI is an address without a server. */
export function signInWith(browser: Browser, redirectUri = "http://127.0.0.1:9/callback"): SignIn {
  return {
    prepare: () =>
      Promise.resolve({ redirectUri, visit: (url) => browser.signIn(url), close: () => Promise.resolve() }),
  };
}
