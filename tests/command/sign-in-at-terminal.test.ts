import { InvalidToken } from "mcparley/auth";
import { expect, onTestFinished, test } from "vitest";
import { type Terminal, openTerminal } from "../chat/support/terminal.ts";
import { startAuthorizationServer } from "../auth/authorization-server.ts";
import { serveProtected } from "../auth/protected-server.ts";
import { type ScriptedBrowser, scriptedBrowser } from "../auth/scripted-browser.ts";

interface Refusing {
  readonly url: string;
  readonly browser: ScriptedBrowser;
  /** The grant types of the requests for tokens. */
  readonly grants: () => (string | null)[];
  /** Starts a command in a pseudo-terminal. */
  readonly run: (...args: string[]) => Terminal;
}

/** Starts a server that refuses each token, and a browser whose user signs in. */
async function openRefusing(): Promise<Refusing> {
  const issuer = await startAuthorizationServer();
  onTestFinished(() => issuer.close());
  const server = await serveProtected({
    protect: (resource) => ({
      resource,
      issuers: [issuer.issuer],
      scopes: ["notes:read"],
      verifier: () => {
        throw new InvalidToken("The audience must be notes.");
      },
    }),
  });
  onTestFinished(() => server.close());
  issuer.resources.set(server.url, { scope: "notes:read" });
  const browser = await scriptedBrowser("alice");
  onTestFinished(() => browser.close());
  return {
    url: server.url,
    browser,
    grants: () => issuer.tokenRequests.map((form) => form.get("grant_type")),
    run: (...args) => openTerminal({ args, rows: 60, env: { BROWSER: browser.program } }),
  };
}

/** Returns the text of a terminal without its line breaks. */
const textOf = (terminal: Terminal): string => terminal.history().replaceAll(/\s+/g, " ");

test("a call ends with the reason of a server that refuses the new token, after one sign-in", async () => {
  const { run, url, browser, grants } = await openRefusing();
  const terminal = run("call", url, "whoami");
  await terminal.waitFor(() => terminal.isCursorVisible() && terminal.screen().includes("[c]ancel?"));
  expect(textOf(terminal)).toContain(`Server: ${url}`);
  terminal.paste("y");
  terminal.key("enter");
  expect((await terminal.exit).code).toBe(3);
  expect(textOf(terminal)).toContain("invalid_token (The audience must be notes.)");
  expect(textOf(terminal)).not.toContain("mcparley login");
  expect(browser.opened).toHaveLength(1);
  expect(grants()).toEqual(["authorization_code"]);
});

test("login does not report a sign-in whose token the server refuses", async () => {
  const { run, url, browser, grants } = await openRefusing();
  const terminal = run("login", url);
  expect((await terminal.exit).code).toBe(3);
  expect(textOf(terminal)).toContain("invalid_token (The audience must be notes.)");
  expect(textOf(terminal)).not.toContain("Signed in");
  expect(browser.opened).toHaveLength(1);
  expect(grants()).toEqual(["authorization_code"]);
});
