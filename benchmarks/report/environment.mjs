// @ts-check
import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, loadavg } from "node:os";
import { pinning } from "../measure/cores.mjs";

/** @import { Environment } from "../types.ts" */

/** Returns the environment of this run. @param {string} root @param {Readonly<Record<string, string>>} versions @returns {Environment} */
export function environmentOf(root, versions) {
  return {
    date: new Date().toISOString(),
    commit: commitOf(root),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    pinned: pinning(),
    load: loadavg(),
    versions,
  };
}

/** @param {string} root */
function commitOf(root) {
  const git = (/** @type {readonly string[]} */ args) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
  const { status, stdout } = git(["rev-parse", "--short", "HEAD"]);
  if (status !== 0) return "an unknown commit";
  const changed = git(["status", "--porcelain", "--", "packages", "benchmarks"]).stdout.trim() !== "";
  return `${stdout.trim()}${changed ? ", with changes" : ""}`;
}
