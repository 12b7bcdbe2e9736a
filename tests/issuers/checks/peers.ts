import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { createHost } from "@mcparley/host";
import { memoryCredentials } from "mcparley/auth";
import { type SignedIn, signInFirst, signInSecond } from "../../auth/official-sign-in.ts";
import { browserOf } from "../../auth/browser.ts";
import { signInWith } from "../../auth/sign-in-with.ts";
import { say, startEndpoint, toolCall } from "../../chat/support/scripted-endpoint.mjs";
import { type Check, checksOf } from "../check.ts";
import type { KeycloakIssuer } from "../issuer.ts";
import { libraryUser } from "../library.ts";
import { tokenAge } from "./usual.ts";

/** The host, the chat and the official clients at each issuer. */
export const peers = checksOf([
  {
    name: "the host signs in and calls a tool behind a scope",
    feature: "the host",
    async run({ serve, onEnd }) {
      const { url } = await serve();
      const browser = browserOf({ user: "alice" });
      const host = await createHost({
        folder: false,
        servers: { notes: url },
        policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
        signIn: signInWith(browser),
        credentials: memoryCredentials(),
      });
      onEnd(() => host.close());
      await host.servers.get("notes")?.signIn();
      await host.ready();
      const outcome = await host.callTool("notes__whoami", {});
      assert.equal(outcome.status, "result");
      assert.match(JSON.stringify(outcome), /subject/);
    },
  },
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

/** Our client at servers of FastMCP. */
export const fastmcpServers = (python: string): readonly Check<KeycloakIssuer>[] =>
  ["RemoteAuthProvider", "KeycloakAuthProvider"].map((provider) => ({
    name: `our client at a server of FastMCP with ${provider}`,
    feature: "servers of FastMCP",
    async run({ issuer, root, onEnd }) {
      const url = await startFastmcp({ python, root, words: [provider, issuer.url], onEnd });
      await issuer.addResource(url);
      const user = libraryUser("alice");
      assert.match(await user.call(url, "whoami"), /"subject"/);
      await user.call(url, "whoami", { clockAhead: tokenAge });
      assert.equal(user.visited.length, 1);
      assert.equal(await user.open().signOut(url), "revoked");
    },
  }));

interface StartOptions {
  python: string;
  root: string;
  words: readonly string[];
  onEnd: (end: () => unknown) => void;
}

/** Starts the server, and returns its URL. */
async function startFastmcp({ python, root, words, onEnd }: StartOptions): Promise<string> {
  const child = spawn(python, [path.join(root, "tests/issuers/python_fastmcp.py"), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  onEnd(() => child.kill());
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  const line = once(createInterface({ input: child.stdout }), "line") as Promise<[string]>;
  const ended = once(child, "exit").then(() => {
    throw new Error(`The server of FastMCP has ended. ${errors.slice(-1_000)}`);
  });
  const [url] = await Promise.race([line, ended]);
  return url;
}
