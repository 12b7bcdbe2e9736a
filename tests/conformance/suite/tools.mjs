// @ts-check
import path from "node:path";
import { installLocked } from "../../../scripts/npm.mjs";
import { newerNode } from "../../interop/runtimes/obtain.mjs";
import { NotAvailable } from "../../support/runner.mjs";

/**
 * The programs that run the suites.
 *
 * @typedef {{ node: string, suite: (release: string) => string }} Tools
 */

/**
 * Installs the suites into a folder, as the lock file pins them, and a Node that can run them, unless they are there.
 * Throws `NotAvailable` if they cannot be installed.
 *
 * @param {string} folder
 * @returns {Tools}
 */
export function installTools(folder) {
  // The suites need Node 22. The tested programs run on the current Node.
  const node = newerNode();
  const reason = installLocked(path.join(import.meta.dirname, "../tools"), folder);
  if (reason !== undefined) throw new NotAvailable(reason);
  const modules = path.join(folder, "node_modules");
  return { node, suite: (release) => path.join(modules, packageOf(release), "dist/index.js") };
}

/** Both releases are one package, so each is installed under another name. @param {string} release */
function packageOf(release) {
  return `conformance-${release.split(".", 2).join(".")}`;
}
