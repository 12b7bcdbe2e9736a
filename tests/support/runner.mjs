// @ts-check
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { root } from "../../scripts/ready.mjs";

/** Thrown if something that a check needs is unavailable, such as a registry or a program, so that no verdict is possible. */
export class NotAvailable extends Error {}

/**
 * Returns the options of a check. With `--help` it prints the help and ends the process.
 *
 * @template {NonNullable<import("node:util").ParseArgsConfig["options"]>} const T
 * @param {string} help
 * @param {T} options
 * @returns {ReturnType<typeof parseArgs<{ options: T }>>["values"]}
 */
export function readOptions(help, options) {
  if (process.argv.some((word) => word === "--help" || word === "-h")) {
    process.stdout.write(help);
    process.exit(0);
  }
  return parseArgs({ options }).values;
}

/** An option that names a part, and that may be given more than once. */
export const only = { type: /** @type {const} */ ("string"), multiple: /** @type {const} */ (true), default: [] };

/**
 * Bundles a program of the tests for this Node, with the sources that it imports. Returns the file of the bundle.
 *
 * @param {string} source relative to the repository
 * @param {import("esbuild").BuildOptions} [options]
 */
export async function bundle(source, options) {
  const outfile = path.join(root, "node_modules/.mcparley", source.replace(/\.ts$/, ".mjs"));
  await build({
    entryPoints: [path.join(root, source)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "error",
    ...options,
  });
  return outfile;
}

/** Bundles a module of the tests, and imports it. @param {string} source @param {import("esbuild").BuildOptions} [options] */
export async function load(source, options) {
  return import(pathToFileURL(await bundle(source, options)).href);
}
