// @ts-check
import { cpSync, readFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { installInto } from "../../../scripts/artifact/install.mjs";
import { packAll, tarballsOf } from "../../../scripts/artifact/pack.mjs";
import { root } from "../../../scripts/ready.mjs";

const interop = path.join(root, "tests/interop");

/**
 * Makes a project that has the packed packages, as users install them, and the programs of the conversations. Bundles the
 * programs of Workers and of the page.
 *
 * @param {string} folder
 */
export async function makeProject(folder) {
  installInto(folder, [...tarballsOf(packAll(path.dirname(folder)), "mcparley"), optionalPeer()]);
  cpSync(path.join(interop, "runtimes"), path.join(folder, "runtimes"), { recursive: true });
  for (const part of ["conversations.mjs", "driver.mjs", "peers/mcparley"]) {
    cpSync(path.join(interop, "matrix", part), path.join(folder, "matrix", part), { recursive: true });
  }
  // The conditions that the bundlers of Workers and of pages use.
  const workers = ["worker", "durable-worker", "client-worker"];
  await bundle(folder, workers, { conditions: ["workerd", "worker", "browser"] });
  await bundle(folder, ["page", "page-server"], { splitting: true });
}

/** Returns the peer of `mcparley/otel`, in the version of the tests. */
function optionalPeer() {
  const name = "@opentelemetry/api";
  const { version } = JSON.parse(readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8"));
  return `${name}@${version}`;
}

/** @param {string} folder @param {readonly string[]} names @param {import("esbuild").BuildOptions} options */
async function bundle(folder, names, options) {
  await build({
    entryPoints: names.map((name) => path.join(folder, "runtimes", `${name}.mjs`)),
    outdir: path.join(folder, "built"),
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "error",
    ...options,
  });
}
