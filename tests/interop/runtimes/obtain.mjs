// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { findChromium } from "../../support/chromium.mjs";
import { installTools } from "../../../scripts/npm.mjs";
import { NotAvailable } from "../../support/runner.mjs";

/**
 * The program of a runtime and its version, or the reason why there is none.
 *
 * @typedef {{ program: string; version: string; reason?: undefined }
 *   | { program?: undefined; version?: undefined; reason: string }} Obtained
 *
 * @typedef {{ title: string; version?: string; packages?: Record<string, string>; program?: string }} Source
 */

const platform = process.platform === "win32" ? "win" : process.platform;
const ending = process.platform === "win32" ? ".exe" : "";
const { platform: os, arch } = process;

/** @param {string} version @returns {Source} */
const node = (version) => ({
  title: "Node",
  version,
  packages: { node: `npm:node-${platform}-${arch}@${version}` },
  program: `node/bin/node${ending}`,
});

/**
 * The pinned runtimes. npm installs the package of this platform; its script, which copies the program, is not run.
 * Chromium is the installed browser, in any version.
 *
 * @type {Readonly<Record<string, Source>>}
 */
const sources = {
  node20: node("20.20.2"),
  node22: node("22.23.3"),
  node24: node("24.21.0"),
  node26: node("26.10.0"),
  bun: {
    title: "Bun",
    version: "1.4.5",
    packages: { bun: "1.4.5" },
    program: `@oven/bun-${os === "win32" ? "windows" : os}-${arch === "arm64" ? "aarch64" : arch}/bin/bun${ending}`,
  },
  deno: {
    title: "Deno",
    version: "2.9.6",
    packages: { deno: "2.9.6" },
    program: `@deno/${os}-${arch}${os === "linux" ? "-glibc" : ""}/deno${ending}`,
  },
  workerd: {
    title: "workerd",
    version: "1.20261117.1",
    packages: { workerd: "1.20261117.1" },
    program: `@cloudflare/workerd-${os === "win32" ? "windows" : os}-${arch === "arm64" ? arch : "64"}/bin/workerd${ending}`,
  },
  chromium: { title: "Chromium" },
};

/** The names of the runtimes that `obtain` knows. */
export const runtimeNames = Object.keys(sources);

/** Returns the pinned version of a runtime. Undefined for Chromium, and for unknown names. @param {string} name */
export function pinnedVersion(name) {
  return sources[name]?.version;
}

/**
 * Returns the program of a runtime: `node20`, `node22`, `node24`, `node26`, `bun`, `deno`, `workerd` or `chromium`. Installs it
 * into `.tools/runtimes` unless it is there. Returns the reason if it cannot be installed or does not start. Throws if the name
 * is unknown.
 *
 * @param {string} name
 * @returns {Obtained}
 */
export function obtain(name) {
  const source = sources[name];
  if (!source) throw new Error(`Runtime "${name}" is unknown. Use one of: ${runtimeNames.join(", ")}.`);
  const { title, version, packages, program: file } = source;
  if (version === undefined || packages === undefined || file === undefined) return started(title, findChromium());
  if (name.startsWith("node") && process.versions.node === version) return started(title, process.execPath, version);
  const folder = installTools(path.join("runtimes", name), packages);
  if (folder === undefined) return { reason: `${title} ${version} cannot be installed.` };
  const program = path.join(folder, "node_modules", file);
  return started(`${title} ${version}`, existsSync(program) ? program : undefined, version);
}

/** Returns this Node, or a pinned one for what needs Node 22. Throws `NotAvailable` if there is none. */
export function newerNode() {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  const { program, reason } = obtain("node22");
  if (program === undefined) throw new NotAvailable(reason);
  return program;
}

/** @param {string} title @param {string | undefined} program @param {string} [pinned] @returns {Obtained} */
function started(title, program, pinned) {
  if (program === undefined) return { reason: `${title} is not available for ${os} on ${arch}.` };
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  const version = pinned ?? /\d+(?:\.\d+)+/.exec(stdout ?? "")?.[0];
  if (status !== 0 || version === undefined) return { reason: `${title} does not start on this system.` };
  return { program, version };
}
