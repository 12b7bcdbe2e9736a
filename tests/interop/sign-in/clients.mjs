// @ts-check
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createHost } from "@mcparley/host";
import { memoryCredentials, oauth } from "mcparley/auth";
import { connect } from "mcparley/client";

/**
 * A client that was registered by hand. Undefined for a client that registers itself.
 *
 * @typedef {{ id: string, secret?: string, redirectUri: string } | undefined} ByHand
 */

/**
 * One of our clients, for one conversation. Each function throws if it fails.
 *
 * @typedef {object} SigningClient
 * @property {() => Promise<unknown>} signIn
 * @property {() => Promise<string>} call calls `add` with 1 and 2, and returns its text
 * @property {() => Promise<string>} signOut returns the outcome
 * @property {() => Promise<void> | void} close
 * @property {() => number} visits returns the number of pages that were opened
 */

/** @type {Readonly<Record<string, (url: string, byHand: ByHand) => Promise<SigningClient> | SigningClient>>} */
export const clients = { library, command, host };

const redirectUri = "http://127.0.0.1:7777/callback";

/** Returns a user who follows redirects, and the number of visited pages. @param {string} [uri] */
function user(uri = redirectUri) {
  let visits = 0;
  const signIn = {
    prepare: async () => ({
      redirectUri: uri,
      /** @param {URL} url */
      async visit(url) {
        visits++;
        const response = await fetch(url, { redirect: "manual" });
        const location = response.headers.get("location");
        if (location === null) throw new Error(`The page shows ${response.status}: ${await response.text()}`);
        return new URL(location);
      },
      close: async () => {},
    }),
  };
  return { signIn, visits: () => visits };
}

/** @param {ByHand} byHand */
const clientOption = (byHand) => (byHand ? { client: { id: byHand.id, secret: byHand.secret } } : {});

/** `oauth` and `connect`. @param {string} url @param {ByHand} byHand @returns {SigningClient} */
function library(url, byHand) {
  const { signIn, visits } = user(byHand?.redirectUri);
  const storage = memoryCredentials();
  // Each step is that of a process which shares only the storage.
  const open = () => oauth({ signIn, storage, ...clientOption(byHand) });
  return {
    visits,
    signIn: () => open().signIn(url),
    async call() {
      const client = await connect(url, { auth: open() });
      try {
        return textOf(await client.callToolResult("add", { a: 1, b: 2 }));
      } finally {
        await client.close();
      }
    },
    signOut: () => open().signOut(url),
    close() {},
  };
}

/** The host. It signs in by itself, or with `auth` of the target as a client by hand. @param {string} url @param {ByHand} byHand @returns {Promise<SigningClient>} */
async function host(url, byHand) {
  const { signIn, visits } = user(byHand?.redirectUri);
  const credentials = memoryCredentials();
  const auth = oauth({ signIn, storage: credentials, ...clientOption(byHand) });
  const opened = await createHost({
    folder: false,
    servers: { peer: byHand ? { target: { url, auth } } : url },
    policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
    signIn,
    credentials,
  });
  return {
    visits,
    async signIn() {
      const server = opened.servers.get("peer");
      await (byHand ? server?.connect() : server?.signIn());
      await opened.ready();
    },
    async call() {
      const outcome = await opened.callTool("peer__add", { a: 1, b: 2 });
      if (outcome.status !== "result") throw new Error(outcome.message);
      return textOf(outcome.result);
    },
    signOut: () => auth.signOut(url),
    close: () => opened.close(),
  };
}

/** The command, in processes with a home folder of their own. @param {string} url @param {ByHand} byHand @returns {SigningClient} */
function command(url, byHand) {
  const home = mkdtempSync(path.join(tmpdir(), "mcparley-sign-in-"));
  const secret = byHand?.secret === undefined ? [] : ["--client-secret-env", "CLIENT_SECRET"];
  const client = byHand ? ["--client-id", byHand.id, "--redirect-uri", byHand.redirectUri, ...secret] : [];
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    BROWSER: path.join(import.meta.dirname, "browser.mjs"),
    ...(byHand?.secret !== undefined && { CLIENT_SECRET: byHand.secret }),
  };
  let errors = "";
  const run = async (/** @type {string[]} */ ...words) => {
    const result = await runCommand(words, env);
    errors += result.errors;
    return result.output.trim();
  };
  return {
    visits: () => errors.split("The browser opens").length - 1,
    signIn: () => run("login", url, "--timeout", "30s", ...client),
    call: () => run("call", url, "add", "a=1", "b=2"),
    signOut: async () => JSON.parse(await run("logout", url, "--json")).outcome,
    close: () => rmSync(home, { recursive: true }),
  };
}

/** @param {string[]} words @param {NodeJS.ProcessEnv} env @returns {Promise<{ output: string, errors: string }>} */
function runCommand(words, env) {
  const bin = path.join(import.meta.dirname, "../../../packages/cli/bin/mcparley.cjs");
  const child = spawn(process.execPath, [bin, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve({ output, errors });
      else reject(new Error(`mcparley ${words[0]} ended with ${code}: ${errors.trim()} ${output.trim()}`));
    });
  });
}

/** @param {any} result */
function textOf({ content }) {
  return content.map((/** @type {any} */ block) => block.text).join("");
}
