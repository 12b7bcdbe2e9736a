// @ts-check
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { checkArtifact } from "./artifact/check.mjs";
import { Checks } from "./artifact/checks.mjs";
import { fileNameOf } from "./packages.mjs";
import { npm } from "./npm.mjs";
import { makeReady, root } from "./ready.mjs";
import { runChangesets } from "./release/changesets.mjs";
import { readState, reasonsAgainst } from "./release/conditions.mjs";

const help = `npm run release [-- options]
  npm run release -- changeset [WORD]

Builds, packs and checks the published packages, installs the tarballs into empty projects, and runs the samples of the READMEs and
the shell samples of the guides there. Then it publishes the tarballs with provenance. It refuses to publish while the address of the repository is not set, files are not committed, the
registry has the version, or provenance is unavailable.

  --dry-run   publishes nothing, and prints what would be published and the reasons against it

"changeset" runs Changesets: without a word it asks for the description of a change, "version" raises the versions and writes
the changelogs, "status" lists what the next release contains.
`;

/** @typedef {import("./artifact/pack.mjs").Packed} Packed */

const words = process.argv.slice(2);
if (words[0] === "changeset") {
  makeReady();
  process.exitCode = await runChangesets(words.slice(1));
} else {
  const options = /** @type {const} */ ({ "dry-run": { type: "boolean" }, help: { type: "boolean", short: "h" } });
  const { values } = parseArgs({ options });
  if (values.help) process.stdout.write(help);
  else process.exitCode = await release(values["dry-run"] === true);
}

/** Returns the exit code. @param {boolean} isDryRun */
async function release(isDryRun) {
  if (!isDryRun) {
    const reasons = reasonsAgainst(readState());
    if (reasons.length > 0) return refuse(reasons);
  }
  makeReady();
  // The path has a space, as those of users may have.
  const parent = realpathSync(mkdtempSync(path.join(tmpdir(), "mcparley-release-")));
  const folder = path.join(parent, "a release");
  const checks = new Checks();
  try {
    mkdirSync(folder);
    const packed = await checkPackages(folder, checks);
    if (isDryRun) printPlan(packed, checks);
    else if (checks.notRun.length > 0) return refuse(checks.notRun.map((what) => `${what} could not be run.`));
    else publish(packed);
    return 0;
  } catch (error) {
    process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    rmSync(parent, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Packs and checks the packages, and runs the samples with them. @param {string} folder @param {Checks} checks */
async function checkPackages(folder, checks) {
  // Loaded here, because a fresh clone installs the packages that these need.
  const { readmes } = await import("../tests/samples/read-readme.mjs");
  const { runSamples } = await import("../tests/samples/readme-samples.mjs");
  const { followPages } = await import("../tests/samples/follow-pages.mjs");
  const packed = checkArtifact({ folder, checks });
  const tarballs = packed.map(({ file }) => file);
  for (const readme of readmes()) {
    const project = path.join(folder, "samples", fileNameOf(readme.replaceAll("/", "-")));
    await runSamples({ readme, project, tarballs, checks });
  }
  await followPages({ folder: path.join(folder, "pages"), env: process.env, packed, checks });
  return packed;
}

/** @param {readonly Packed[]} packed @param {Checks} checks */
function printPlan(packed, checks) {
  process.stdout.write(
    `\nrelease: ${checks.passed} checks passed, ${checks.notRun.length} not run\nA release would publish:\n`,
  );
  for (const { name, version, files, packedSize, unpackedSize } of packed) {
    const sizes = `${kilobytes(packedSize)}, ${kilobytes(unpackedSize)} unpacked`;
    process.stdout.write(`  ${`${name}@${version}`.padEnd(28)} ${String(files.length).padStart(4)} files, ${sizes}\n`);
  }
  const reasons = reasonsAgainst(readState());
  if (reasons.length > 0) process.stdout.write(`It would refuse now, because:\n${listOf(reasons)}`);
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(0)} kB`;
}

/** @param {readonly Packed[]} packed */
function publish(packed) {
  for (const { name, version, file } of packed) {
    npm(["publish", file, "--provenance", "--access", "public"], { cwd: root });
    process.stdout.write(`published  ${name}@${version}\n`);
  }
}

/** @param {readonly string[]} reasons */
function refuse(reasons) {
  process.stderr.write(`release: nothing was published.\n${listOf(reasons)}`);
  return 1;
}

/** @param {readonly string[]} lines */
function listOf(lines) {
  return lines.map((line) => `  - ${line}\n`).join("");
}
