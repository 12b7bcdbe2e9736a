// @ts-check
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { makeReady, root } from "./ready.mjs";

const help = `npm run site [-- options]

Builds the documentation site from docs/ and the docstrings into site/dist. Installs its tools into site/node_modules, and
reports "not run" if they cannot be installed.

  --url URL        the address at which the site will be served; default: the root of any host
  --serve          then serve the site on loopback until Ctrl+C
  --port N         the port for --serve (4173)
  --check          then check links, and open pages in Chromium: axe, network, screenshots in site/.screenshots
`;

const site = path.join(root, "site");
const { values } = parseArgs({
  options: {
    url: { type: "string" },
    serve: { type: "boolean", default: false },
    port: { type: "string", default: "4173" },
    check: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) process.stdout.write(help);
else process.exitCode = main();

function main() {
  makeReady();
  if (!install()) {
    process.stdout.write("not run  The tools of the site cannot be installed.\n");
    return 0;
  }
  // A process of its own, because its imports need the packages that were just installed.
  const { status } = spawnSync(process.execPath, [path.join(site, "scripts/main.mjs"), JSON.stringify(values)], {
    stdio: "inherit",
  });
  return status ?? 1;
}

/**
 * Installs the exact packages of the site's lock file, unless they are installed. Returns whether they are there. Throws if
 * the lock file is wrong, because that is a defect and not a missing network.
 */
function install() {
  const marker = path.join(site, "node_modules/.mcparley");
  const lock = createHash("sha256")
    .update(readFileSync(path.join(site, "package-lock.json")))
    .digest("hex");
  if (existsSync(marker) && readFileSync(marker, "utf8") === lock) return true;
  process.stderr.write("Installing the tools of the site ...\n");
  const isWindows = process.platform === "win32";
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"];
  const options = { cwd: site, encoding: /** @type {const} */ ("utf8"), shell: isWindows };
  const { status, stderr } = spawnSync(isWindows ? "npm.cmd" : "npm", args, options);
  if (status !== 0) {
    process.stderr.write(stderr);
    if (/EUSAGE|EINTEGRITY|EJSONPARSE/.test(stderr)) throw new Error("site/package-lock.json is wrong.");
    return false;
  }
  writeFileSync(marker, lock);
  return true;
}
