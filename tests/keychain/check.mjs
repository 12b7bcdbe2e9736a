// @ts-check
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fileCredentials, keychain } from "mcparley/node";

/** Run by run.mjs, with the path of `@napi-rs/keyring` and a folder, in a session that has a keychain. */
const [, script = "", keyringPath = "", home = "", role] = process.argv;
const { default: keyring } = await import(pathToFileURL(keyringPath).href);
const folder = path.join(home, "credentials");
const open = () => fileCredentials(folder, { key: keychain({ keyring }) });

if (role === "read") {
  process.stdout.write(String(await open().get("k")));
} else {
  await check();
}

async function check() {
  assert.equal(await open().compareAndSet("k", undefined, "secret-4711"), true);
  pass("a value is written with a key of the keychain");
  const other = spawnSync(process.execPath, [fileURLToPath(import.meta.url), keyringPath, home, "read"]);
  assert.equal(other.stdout.toString(), "secret-4711");
  pass("another process reads it");
  for (const name of readdirSync(folder)) {
    assert.ok(!readFileSync(path.join(folder, name), "utf8").includes("secret-4711"), name);
  }
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(path.join(folder, "key.json"), "utf8"))), ["from", "check"]);
  pass("neither the value nor the key is in the folder");
  const another = fileCredentials(folder, { key: keychain({ keyring, account: "another" }) });
  await assert.rejects(another.get("k"), /another key/);
  pass("a key of another account does not open it");
  const env = { PATH: process.env.PATH, HOME: home, DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent" };
  const without = spawnSync(process.execPath, [script, keyringPath, home, "read"], { env });
  assert.match(without.stderr.toString(), /The system's keychain cannot be used: /);
  pass("without a keychain it says so, and takes no other place");
}

/** @param {string} what */
function pass(what) {
  process.stdout.write(`ok  ${what}\n`);
}
