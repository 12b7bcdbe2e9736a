import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalError } from "mcparley";
import { runWith } from "../commands/testing/fake-io.ts";
import { exampleServer } from "../commands/testing/example-server.ts";
import { readConnection } from "./network.ts";
import type { NetworkOptions } from "./options.ts";

const url = "https://notes.example/mcp";
let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "mcparley network "));
  for (const name of ["ca.pem", "other.pem", "client.pem", "client.key"])
    writeFileSync(join(cwd, name), `content of ${name}`);
  mkdirSync(join(cwd, "folder"));
});
afterAll(() => rmSync(cwd, { recursive: true }));

function read(options: Partial<NetworkOptions>): unknown {
  return readConnection(options, { cwd, env: { PASSPHRASE: "open sesame", EMPTY: "" } });
}

describe("the options for the network", () => {
  test("are the connection of the target", async () => {
    const words = ["--proxy", "http://proxy.example:3128", "--cacert", "ca.pem", "--cacert", "other.pem"];
    const client = ["--cert", "client.pem", "--key", "client.key", "--key-passphrase-env", "PASSPHRASE"];
    const env = { PASSPHRASE: "open sesame" };
    const { io } = await runWith({ server: exampleServer(), cwd, env }, ["list", url, ...words, ...client]);
    expect(io.targets).toEqual([
      {
        url,
        headers: {},
        connection: {
          proxy: "http://proxy.example:3128",
          ca: [Buffer.from("content of ca.pem"), Buffer.from("content of other.pem")],
          cert: Buffer.from("content of client.pem"),
          key: Buffer.from("content of client.key"),
          passphrase: "open sesame",
        },
      },
    ]);
  });

  test("apply to servers of a configuration file", async () => {
    writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { notes: { url } } }));
    const { io } = await runWith({ server: exampleServer(), cwd }, [
      "list",
      "notes",
      "--trust",
      "--proxy",
      "http://p.example",
    ]);
    expect(io.targets).toEqual([{ url, headers: {}, connection: { proxy: "http://p.example" } }]);
  });

  test("are no connection if there are none", () => expect(read({})).toBeUndefined());

  test("are refused for a program", async () => {
    const { code, io } = await runWith({}, ["list", "--proxy", "http://p.example", "--", "node", "server.js"]);
    expect(code).toBe(1);
    expect(io.err()).toContain('--proxy, --cacert, --cert and --key apply to servers at a URL. "node" is a program');
  });
});

test.each<[Partial<NetworkOptions>, string]>([
  [{ cacert: ["missing.pem"] }, "--cacert missing.pem does not exist."],
  [{ cacert: ["folder"] }, "--cacert folder is a folder."],
  [{ cert: "missing.pem", key: "client.key" }, "--cert missing.pem does not exist."],
  [{ cert: "client.pem", key: "missing.key" }, "--key missing.key does not exist."],
  [{ cert: "client.pem" }, "--cert needs the private key of the certificate."],
  [{ key: "client.key" }, "--key needs the certificate of the key."],
  [{ keyPassphraseEnv: "PASSPHRASE" }, "--key-passphrase-env needs the key too: add --cert FILE --key FILE."],
  [{ cert: "client.pem", key: "client.key", keyPassphraseEnv: "EMPTY" }, "The environment variable EMPTY, which"],
])("%j: %s", (options, message) => expect(() => read(options)).toThrow(message));

test.skipIf(process.platform === "win32")("a pipe is refused, because nothing may write into it", () => {
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  expect(() => read({ cacert: ["pipe"] })).toThrow("--cacert pipe is not a regular file.");
});

test("an error of the library names the options of the command", async () => {
  const message =
    "connection.ca contains no certificate. Set connection.proxy, connection.cert or connection.passphrase.";
  const connect = (): Promise<never> => Promise.reject(new LocalError("invalid_target", message));
  for (const words of [
    ["list", url],
    ["list", url, "--json"],
  ]) {
    const { io } = await runWith({ connect }, words);
    const shown = words.length === 3 ? io.out() : io.err();
    expect(shown.replace(/\s+/g, " ")).toContain(
      "--cacert contains no certificate. Set --proxy, --cert or --key-passphrase-env.",
    );
  }
});

test("a similar option is suggested", async () => {
  const { io } = await runWith({}, ["list", url, "--cacerts", "ca.pem"]);
  expect(io.err()).toContain("Did you mean --cacert?");
});

test("the help has a topic for them", async () => {
  const { io } = await runWith({}, ["list", "--help"]);
  expect(io.out()).toContain("network");
});
