import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { InvalidToken, type ProtectedResourceOptions, type TokenVerifier, jwtVerifier } from "mcparley/auth";
import type { tool } from "mcparley/server";
import { type ProtectedServer, serveProtected, tools } from "../auth/protected-server.ts";
import { type ScriptedBrowser, scriptedBrowser } from "../auth/scripted-browser.ts";
import { type Ended, type Started, startCommand } from "./command.ts";
import type { Issuer } from "./issuer.ts";

/** The servers, browsers and commands of one check, which end with it. */
export interface World<I extends Issuer = Issuer> {
  readonly issuer: I;
  /** The root folder of the repository. */
  readonly root: string;
  /** Milliseconds by which the clock of commands is ahead. */
  clockAhead: number;
  /** Makes the servers refuse all tokens that they have accepted so far. */
  refuseTokens: () => void;
  /** Serves `whoami` and `write` for tokens of the issuer. */
  serve: (options?: ServeOptions) => Promise<ProtectedServer>;
  /** Returns a function that runs the command of one user, with a separate home folder. `env` has further variables. */
  user: (name: string, env?: Record<string, string>) => Promise<CommandUser>;
  onEnd: (end: () => unknown) => void;
  /** Aborted at the end of the check, for processes that it starts. */
  readonly signal: AbortSignal;
  /** Ends everything. */
  close: () => Promise<void>;
}

interface ServeOptions extends Partial<Omit<ProtectedResourceOptions, "resource" | "verifier">> {
  /** Returns the verifier for the URL of the server. Default: one of JWTs. */
  verifierOf?: (resource: string) => TokenVerifier;
  /** Whether the issuer issues tokens for the server. Default: true. */
  isKnown?: boolean;
  /** Whether the tokens are verified by introspection alone. Default: false. */
  isOpaque?: boolean;
  /** The tools of the server, beside `whoami` and `write`. */
  tools?: Record<string, ReturnType<typeof tool>>;
}

/** A user of the command. */
interface CommandUser {
  readonly browser: ScriptedBrowser;
  /** The variables of the user's processes. */
  readonly env: Record<string, string>;
  /** Runs the command without a terminal. */
  run: (...words: string[]) => Promise<Ended>;
  /** Starts the command without a terminal. */
  start: (...words: string[]) => Started;
}

/** Opens the surroundings of one check. */
export function openWorld<I extends Issuer>(issuer: I, root: string): World<I> {
  const ends: (() => unknown)[] = [];
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once("exit", stop);
  const accepted = new Set<string>();
  const refused = new Set<string>();
  const limited =
    (verify: TokenVerifier): TokenVerifier =>
    (token, request) => {
      if (refused.has(token)) throw new InvalidToken("The token was refused by the test.");
      accepted.add(token);
      return verify(token, request);
    };
  const world: World<I> = {
    issuer,
    root,
    clockAhead: 0,
    refuseTokens: () => accepted.forEach((token) => refused.add(token)),
    async serve({ isKnown = true, isOpaque = false, tools: more, verifierOf, ...options } = {}) {
      const server = await serveProtected({
        ...(more && { definition: { tools: { ...tools, ...more } } }),
        protect: (resource) => ({
          resource,
          issuers: [issuer.url],
          verifier: limited(verifierOf?.(resource) ?? jwtVerifier({ issuer: issuer.url, audience: resource })),
          scopes: ["notes:read"],
          ...options,
        }),
      });
      ends.push(() => server.close());
      if (isKnown) await issuer.addResource(server.url, { isOpaque });
      return server;
    },
    async user(name, more) {
      // The command reports a sign-in that the user cannot complete.
      const browser = await scriptedBrowser(name, { onFailure: () => {} });
      const home = mkdtempSync(path.join(tmpdir(), "mcparley-home-"));
      ends.push(
        () => rmSync(home, { recursive: true, force: true }),
        () => browser.close(),
      );
      const env = { HOME: home, BROWSER: browser.program, ...more };
      const start = (...words: string[]): Started =>
        startCommand(words, { root, env, clockAhead: world.clockAhead, signal: stopping.signal });
      return { browser, env, start, run: (...words) => start(...words).ended };
    },
    onEnd: (end) => void ends.push(end),
    signal: stopping.signal,
    async close() {
      process.off("exit", stop);
      stop();
      for (const end of ends.toReversed()) await end();
    },
  };
  return world;
}
