import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { jwtVerifier } from "mcparley/auth";
import { expect, onTestFinished, test } from "vitest";
import { startAuthorizationServer } from "../auth/authorization-server.ts";
import { browserOf } from "../auth/browser.ts";
import { serveProtected } from "../auth/protected-server.ts";
import { type ScriptedBrowser, scriptedBrowser } from "../auth/scripted-browser.ts";
import { startNotes } from "../host/sign-in/stage.ts";
import { type Chat, openChat } from "./support/chat.ts";

/** Starts a server that requires a sign-in, and returns its URL. */
async function protectedUrl(): Promise<string> {
  const issuer = await startAuthorizationServer();
  onTestFinished(() => issuer.close());
  const server = await serveProtected({
    protect: (resource) => ({
      resource,
      issuers: [issuer.issuer],
      scopes: ["notes:read"],
      verifier: jwtVerifier({ issuer: issuer.issuer, audience: resource }),
    }),
  });
  onTestFinished(() => server.close());
  issuer.resources.set(server.url, { scope: "notes:read notes:write notes:sign" });
  return server.url;
}

interface SigningIn extends Chat {
  /** The name of the server in the chat. */
  readonly name: string;
  readonly browser: ScriptedBrowser;
}

/** Opens a chat with a server that requires a sign-in, and a browser whose user signs in. */
const openProtected = async (args: readonly string[] = []): Promise<SigningIn> =>
  openSigningIn(await protectedUrl(), args);

async function openSigningIn(url: string, args: readonly string[] = []): Promise<SigningIn> {
  const browser = await scriptedBrowser("alice");
  onTestFinished(() => browser.close());
  const chat = await openChat({
    server: null,
    args: [...args, url],
    waits: false,
    rows: 60,
    env: { BROWSER: browser.program },
  });
  const name = `local-${new URL(url).port}`;
  await chat.terminal.waitFor("0 of 1 servers connected");
  return { ...chat, name, browser };
}

test("signs in with the browser after a yes, and uses the server", async () => {
  const { terminal, send, answer, name, browser } = await openProtected();
  await terminal.waitFor(`/servers sign-in ${name}`);
  await send(`/servers sign-in ${name}`);
  await terminal.waitFor("The server asks you to sign in:");
  await terminal.waitFor("Scopes: notes:read");
  expect(browser.opened).toEqual([]);
  await answer("[c]ancel?", "y");
  await terminal.waitFor("1 of 1 servers connected");
  expect(browser.opened).toHaveLength(1);
  await send(`/call ${name}__whoami`);
  await terminal.waitFor("alice");
});

test("asks for the scopes of a call, and continues the call after a yes", async () => {
  const notes = await startNotes();
  onTestFinished(notes.close);
  const { terminal, send, answer, refused, name, browser } = await openSigningIn(notes.url);
  await send(`/servers sign-in ${name}`);
  await answer("[c]ancel?", "y");
  await terminal.waitFor("1 of 1 servers connected");
  await send(`/call ${name}__write`);
  await terminal.waitFor("Missing scopes: notes:write");
  await answer("[c]ancel?", "n");
  await refused(/You\s+declined to sign in\./);
  await send(`/call ${name}__write`);
  await answer("[c]ancel?", "y");
  await terminal.waitFor(/\n *written/);
  expect(browser.opened).toHaveLength(2);
  // The lists are read again, because the server can show more to the new token.
  await terminal.waitFor("that you have not accepted");
  await answer("[v]iew?", "y");
  await send(`/call ${name}__whoami`);
  await terminal.waitFor("alice");
});

test("requests the scopes of tools that the server hides", async () => {
  const { terminal, send, answer, name, browser } = await openProtected();
  await send(`/servers sign-in ${name} notes:write notes:sign`);
  await terminal.waitFor(/Scopes: .*notes:write notes:sign/);
  await answer("[c]ancel?", "y");
  await terminal.waitFor("1 of 1 servers connected");
  await send(`/call ${name}__write`);
  await terminal.waitFor(/\n *written/);
  expect(browser.opened).toHaveLength(1);
});

test("opens nothing after a no, and can be asked again", async () => {
  const { terminal, send, answer, refused, name, browser } = await openProtected();
  await send(`/servers sign-in ${name}`);
  await answer("[c]ancel?", "n");
  await refused(/You\s+declined to sign in\./);
  await send(`/servers sign-in ${name}`);
  await answer("[c]ancel?", "y");
  await terminal.waitFor("1 of 1 servers connected");
  expect(browser.opened).toHaveLength(1);
});

test("signs in at another machine with --no-browser", async () => {
  const { terminal, send, answer, name, browser } = await openProtected(["--no-browser"]);
  await send(`/servers sign-in ${name}`);
  await terminal.waitFor("At the end the browser shows an error");
  const [wrapped = ""] = /http\S+\/auth\?[^]*?(?=\nAt the end)/.exec(terminal.history()) ?? [];
  const address = wrapped.replaceAll("\n", "");
  const back = await browserOf({ user: "alice" }).signIn(address);
  await answer("address bar >", back.href);
  await terminal.waitFor("1 of 1 servers connected");
  expect(browser.opened).toEqual([]);
});

test("binds the tokens to a key with --dpop, and requests no offline_access with --no-offline", async () => {
  const { terminal, send, answer, name } = await openProtected(["--dpop", "--no-offline"]);
  await send(`/servers sign-in ${name}`);
  await terminal.waitFor(/Scopes: notes:read *\n/);
  await answer("[c]ancel?", "y");
  await terminal.waitFor("1 of 1 servers connected");
  await send(`/call ${name}__whoami`);
  await terminal.waitFor(() => terminal.history().replaceAll(/\s/g, "").includes('"jkt"'));
  expect(terminal.history()).not.toContain("offline_access");
});

test("does not advise to sign in at a server that only accepts a token or a key", async () => {
  const server = createHttpServer((request, response) => {
    response.writeHead(request.url === "/mcp" ? 401 : 404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const chat = await openChat({ server: null, args: [`http://127.0.0.1:${port}/mcp`], waits: false });
  const { terminal, send, leave } = chat;
  await terminal.waitFor(/offers no\s+sign-in\. Start the chat with --header/);
  await send("/servers");
  await terminal.waitFor("names no authorization server to sign in at");
  expect(terminal.history()).not.toContain("/servers sign-in");
  expect(await leave()).toBe(0);
});
