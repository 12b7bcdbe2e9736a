// @ts-check
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { installTools } from "../../scripts/npm.mjs";
import { root } from "../../scripts/ready.mjs";

/**
 * Runs the keychain of the library against a real Secret Service: gnome-keyring on a separate D-Bus session with a temporary
 * home folder, so that the user's keyring is not used. Reports "not run" if a part of it is unavailable.
 */
const keyring = { "@napi-rs/keyring": "2.1.2" };
const programs = ["dbus-run-session", "gnome-keyring-daemon"];

process.exitCode = main();

function main() {
  const reason = whyNot();
  if (reason !== undefined) {
    process.stdout.write(`not run: ${reason}\n`);
    return 0;
  }
  const home = mkdtempSync(path.join(tmpdir(), "mcparley-keychain-"));
  try {
    return runIn(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Returns the reason why the check cannot run here, or undefined if it can. */
function whyNot() {
  if (process.platform !== "linux") return "it needs Linux";
  const missing = programs.filter((program) => spawnSync(program, ["--version"]).error);
  if (missing.length > 0) return `${missing.join(" and ")} missing (Debian: apt install dbus-daemon gnome-keyring)`;
  return installTools("keychain", keyring) === undefined ? "@napi-rs/keyring could not be installed" : undefined;
}

/** @param {string} home */
function runIn(home) {
  const check = path.join(import.meta.dirname, "check.mjs");
  const entry = path.join(root, ".tools/keychain/node_modules/@napi-rs/keyring/index.js");
  const env = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home };
  // The daemon reads the password of its keyring from stdin, and keeps the keyring unlocked.
  const session = 'echo "of this test" | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@"';
  const args = ["--", "sh", "-c", session, "sh", process.execPath, check, entry, home];
  const { status } = spawnSync("dbus-run-session", args, { env, stdio: "inherit", timeout: 60_000 });
  return status ?? 1;
}
