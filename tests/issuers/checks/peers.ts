import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { type Host, type Renderer, createHost } from "@mcparley/host";
import { memoryCredentials } from "mcparley/auth";
import { requireScopes, tool } from "mcparley/server";
import { type SignedIn, signInFirst, signInSecond } from "../../auth/official-sign-in.ts";
import { type Browser, browserOf } from "../../auth/browser.ts";
import { signInWith } from "../../auth/sign-in-with.ts";
import { say, startEndpoint, toolCall } from "../../chat/support/scripted-endpoint.mjs";
import { type Check, checksOf } from "../check.ts";
import type { KeycloakIssuer } from "../issuer.ts";
import { libraryUser } from "../library.ts";
import { tokenAge } from "./usual.ts";

/** A tool that each user sees, and whose calls need a scope. */
export const archive: ReturnType<typeof tool> = tool({
  call: (_, { principal }) => {
    requireScopes(["notes:write"], principal);
    return "archived";
  },
});

/** The host calls a tool that needs more scopes, and its user confirms the sign-in. */
const hostStepUp: Check = {
  name: "the host signs in for more scopes after the user has confirmed it",
  feature: "the host",
  async run({ serve, onEnd }) {
    const { url } = await serve({ tools: { archive } });
    const browser = browserOf({ user: "alice" });
    const host = await openHost(url, browser, { signIn: () => ({ action: "allow" }) });
    onEnd(() => host.close());
    assert.match(JSON.stringify(await host.callTool("notes__archive", {})), /archived/);
    // A code with `offline_access` ends the session of the browser at Keycloak, which then asks for the login again.
    assert.deepEqual(
      browser.submitted.filter((page) => page === "consent"),
      ["consent", "consent"],
    );
  },
};

/** The host, the chat and the official clients at each issuer. */
export const peers = checksOf([
  {
    name: "the host signs in and calls a tool",
    feature: "the host",
    async run({ serve, onEnd }) {
      const { url } = await serve();
      const host = await openHost(url, browserOf({ user: "alice" }));
      onEnd(() => host.close());
      const outcome = await host.callTool("notes__whoami", {});
      assert.equal(outcome.status, "result");
      assert.match(JSON.stringify(outcome), /subject/);
    },
  },
  hostStepUp,
  {
    name: "the chat uses the sign-in of the command",
    feature: "the host",
    async run({ serve, user, onEnd }) {
      const { url } = await serve();
      const { run } = await user("alice");
      await run("login", url);
      const model = await startEndpoint(({ messages, tools }) => {
        const tool = tools.find((name) => name.endsWith("whoami"));
        return tool !== undefined && messages.at(-1)?.role !== "tool" ? say(toolCall(tool)) : say("Done.");
      });
      onEnd(() => model.close());
      const words = ["-m", "test", "--base-url", model.url, "--allow", "*", "-p", "Who am I?"];
      const chat = await run("chat", url, ...words);
      assert.equal(chat.code, 0, chat.err);
      assert.match(JSON.stringify(model.requests.at(-1)?.messages), /subject/);
    },
  },
  official("@modelcontextprotocol/sdk 1", (url) => signInFirst(url, "alice")),
  official("@modelcontextprotocol/client 2, legacy", (url) => signInSecond(url, "alice", "legacy")),
  official("@modelcontextprotocol/client 2, modern", (url) => signInSecond(url, "alice", "modern")),
  {
    name: "@modelcontextprotocol/client 2 with tokens that are bound to a key at our server",
    feature: "DPoP",
    async run({ serve, onEnd }) {
      const { url } = await serve({ dpop: { required: true } });
      const client = await signInSecond(url, "alice", "modern", { dpop: true });
      onEnd(() => client.close());
      assert.match(await client.call("whoami"), /"cnf"/);
    },
  },
]);

/** An official client signs in to our server. */
function official(name: string, signIn: (url: string) => Promise<SignedIn>): Check {
  return {
    name: `${name} signs in to our server`,
    feature: "official clients at our server",
    async run({ serve, onEnd }) {
      const { url } = await serve();
      const client = await signIn(url);
      onEnd(() => client.close());
      assert.match(await client.call("whoami"), /"subject"/);
    },
  };
}

/** Opens a host that is signed in to one server. */
async function openHost(url: string, browser: Browser, answers: object = {}): Promise<Host> {
  const host = await createHost({
    folder: false,
    servers: { notes: url },
    policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
    renderer: Object.assign({} as Renderer, answers),
    signIn: signInWith(browser),
    credentials: memoryCredentials(),
  });
  await host.servers.get("notes")?.signIn();
  await host.ready();
  return host;
}

/** FastMCP as a server of our client, and as a client of our server. */
export const fastmcpPeers = (python: string): readonly Check<KeycloakIssuer>[] => [
  fastmcpServer(python, "RemoteAuthProvider"),
  fastmcpServer(python, "KeycloakAuthProvider"),
  {
    name: "the client of FastMCP signs in to our server",
    feature: "FastMCP",
    async run({ serve, user, root, signal }) {
      const { url } = await serve();
      const { env } = await user("alice");
      const child = startPython({ python, root, file: "python_fastmcp_client.py", words: [url], env, signal });
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
      assert.match(out, /subject/, err.slice(-1_000));
    },
  },
];

function fastmcpServer(python: string, provider: string): Check<KeycloakIssuer> {
  return {
    name: `our client at a server of FastMCP with ${provider}`,
    feature: "FastMCP",
    async run({ issuer, root, signal }) {
      const child = startPython({ python, root, file: "python_fastmcp.py", words: [provider, issuer.url], signal });
      const [errors, line] = [text(child.stderr), once(createInterface({ input: child.stdout }), "line")];
      const ended = errors.then((printed) => assert.fail(`The server of FastMCP has ended. ${printed.slice(-1_000)}`));
      const [url]: string[] = await Promise.race([line, ended]);
      assert.ok(url);
      await issuer.addResource(url);
      const user = libraryUser("alice");
      assert.match(await user.call(url, "whoami"), /"subject"/);
      await user.call(url, "whoami", { clockAhead: tokenAge });
      assert.equal(user.visited.length, 1);
      assert.equal(await user.open().signOut(url), "revoked");
    },
  };
}

interface PythonOptions {
  python: string;
  root: string;
  file: string;
  words: readonly string[];
  env?: Record<string, string>;
  signal: AbortSignal;
}

function startPython({
  python,
  root,
  file,
  words,
  env,
  signal,
}: PythonOptions): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn(python, [path.join(root, "tests/issuers", file), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...env },
    signal,
  });
  // It is ended with the check.
  child.once("error", () => {});
  return child;
}
