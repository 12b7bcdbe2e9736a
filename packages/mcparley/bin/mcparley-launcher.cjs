#!/usr/bin/env node
// @ts-check
"use strict";

/*
 * Runs the command of the package @mcparley/cli, for `npx mcparley`. The only bin of this package has another name than that of
 * @mcparley/cli, because npm refuses to install two packages with one bin globally.
 */
const { spawn } = require("node:child_process");
const path = require("node:path");

const command = findCommand();
if (command !== undefined) require(command);
else startFromPath();

/** Returns the file of the command: of the project first, then beside this package, then of a global installation. */
function findCommand() {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  // npm links the commands of `lib/node_modules` in `bin`. On Windows `node_modules` is beside them.
  const libraries = folders.flatMap((folder) => [path.join(folder, "../lib"), folder]);
  try {
    const paths = [process.cwd(), __dirname, ...libraries];
    const manifest = require.resolve("@mcparley/cli/package.json", { paths });
    return path.join(path.dirname(manifest), require(manifest).bin.mcparley);
  } catch {
    return undefined;
  }
}

/** Starts the `mcparley` in `PATH`, which another package manager may have installed. */
function startFromPath() {
  const child = spawn("mcparley", process.argv.slice(2), { stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    // A terminal sends Ctrl-C to both processes.
    process.on(signal, () => (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal)));
  }
  child.on("error", () => {
    process.stderr.write(
      "mcparley: This package is a library. The command is in another package.\n" +
        "  Install it with `npm install --save-dev @mcparley/cli`,\n" +
        "  or type `npx @mcparley/cli` in place of `npx mcparley`.\n",
    );
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 1;
    if (signal === null) return;
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
