import { systemClock } from "mcparley";
import { type OAuth, type OAuthOptions, memoryCredentials, oauth } from "mcparley/auth";
import { connect } from "mcparley/client";
import { type Browser, browserOf } from "../auth/browser.ts";
import { signInWith } from "../auth/sign-in-with.ts";

/** A user of the library. Each step is that of a process which shares only the storage with the others. */
export interface LibraryUser {
  readonly browser: Browser;
  /** The authorization URLs that were visited. */
  readonly visited: URL[];
  /** The steps of all sign-ins, and the errors that failed no request. */
  readonly steps: string[];
  open(options?: OpenOptions): OAuth;
  /** Calls a tool without arguments, and returns its text. */
  call(url: string, tool: string, options?: OpenOptions): Promise<string>;
  /** Sends one request with the token of the user, and returns its response. */
  request(url: string): Promise<Response>;
}

interface OpenOptions extends Omit<OAuthOptions, "clock" | "signIn" | "storage"> {
  /** Milliseconds by which the clock of the client is ahead. */
  clockAhead?: number;
  redirectUri?: string;
}

/** Opens the library for a user with a browser of their own. */
export function libraryUser(name: string, { consents = true } = {}): LibraryUser {
  const browser = browserOf({ user: name, consents });
  const storage = memoryCredentials();
  const steps: string[] = [];
  const visited: URL[] = [];
  const visit = (url: URL): Promise<URL> => {
    visited.push(url);
    return browser.signIn(url);
  };

  function open({ clockAhead = 0, redirectUri, ...options }: OpenOptions = {}): OAuth {
    return oauth({
      storage,
      clock: { ...systemClock, now: () => systemClock.now() + clockAhead },
      signIn: signInWith({ submitted: [], signIn: (url) => visit(new URL(url)) }, redirectUri),
      onStep: (step) => steps.push(step),
      onError: (error) => steps.push(error.message),
      ...options,
    });
  }

  return {
    browser,
    visited,
    steps,
    open,
    async request(url) {
      const server = new URL(url);
      const headers = await open().headers({ server, url: server, method: "POST" });
      return fetch(url, { method: "POST", headers });
    },
    async call(url, tool, options) {
      const client = await connect(url, { auth: open(options) });
      try {
        const { content } = await client.callToolResult(tool);
        return content.map((block) => (block.type === "text" ? block.text : block.type)).join("");
      } finally {
        await client.close();
      }
    },
  };
}
