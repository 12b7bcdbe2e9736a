// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { npm } from "../npm.mjs";
import { publishedPackages } from "../packages.mjs";
import { root } from "../ready.mjs";
import { repository } from "./project.mjs";

/**
 * What a release depends on, apart from its checks.
 *
 * @typedef {object} ReleaseState
 * @property {string | undefined} address the address of the repository
 * @property {{ name: string; version: string; changelog: string }[]} packages
 * @property {string[]} changedFiles files that are not committed
 * @property {string[]} changesets changesets that no version contains yet
 * @property {string[]} published packages whose version is in the registry, such as `mcparley@0.1.0`
 * @property {NodeJS.ProcessEnv} env
 */

/** Returns the reasons against a release. @param {ReleaseState} state @returns {string[]} */
export function reasonsAgainst({ address, packages, changedFiles, changesets, published, env }) {
  const [{ version } = { version: "" }] = packages;
  const reasons = [];
  if (address === undefined) {
    reasons.push(
      "The address of the repository is not set. Set it with npm pkg set repository=URL, and commit package.json.",
    );
  }
  if (changedFiles.length > 0) {
    reasons.push(`Files are not committed: ${changedFiles.slice(0, 5).join(", ")}. Commit or remove them.`);
  }
  if (changesets.length > 0) {
    reasons.push(
      `No version contains the changesets ${changesets.join(", ")}. Run npm run release -- changeset version and commit the result.`,
    );
  }
  for (const { name, version, changelog } of packages) {
    const hasEntry = changelog.split("\n").includes(`## ${version}`);
    if (!hasEntry)
      reasons.push(`The changelog of ${name} has no entry for ${version}. Add one with npm run release -- changeset.`);
  }
  if (packages.some((one) => one.version !== version)) reasons.push("The packages have different versions.");
  if (published.length > 0)
    reasons.push(
      `The registry already has ${published.join(", ")}. Raise the version with npm run release -- changeset version.`,
    );
  reasons.push(...reasonsOfProvenance(version, env));
  return reasons;
}

/** @param {string} version @param {NodeJS.ProcessEnv} env */
function reasonsOfProvenance(version, env) {
  if (!env.ACTIONS_ID_TOKEN_REQUEST_URL || !env.ACTIONS_ID_TOKEN_REQUEST_TOKEN) {
    return [
      "Provenance is unavailable: only a workflow with the permission id-token: write can sign it. Push the tag of the version, which starts .github/workflows/release.yml.",
    ];
  }
  const tag = `refs/tags/v${version}`;
  return env.GITHUB_REF === tag
    ? []
    : [`The workflow runs for ${env.GITHUB_REF} and not for ${tag}. Push the tag v${version}.`];
}

/** Reads the state of the working tree and of the registry. @returns {ReleaseState} */
export function readState() {
  const packages = publishedPackages().map(({ name, version, folder }) => {
    const changelog = path.join(root, folder, "CHANGELOG.md");
    const text = existsSync(changelog) ? readFileSync(changelog, "utf8") : "";
    return { name, version, changelog: text };
  });
  return {
    address: repository,
    packages,
    changedFiles: changedFiles(),
    changesets: readdirSync(path.join(root, ".changeset")).filter(
      (file) => file.endsWith(".md") && file !== "README.md",
    ),
    published: packages.map(({ name, version }) => `${name}@${version}`).filter(isPublished),
    env: process.env,
  };
}

function changedFiles() {
  const { status, stdout } = spawnSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error("git status failed. A release needs a clone with git.");
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.slice(3));
}

/** @param {string} specifier */
function isPublished(specifier) {
  try {
    return npm(["view", specifier, "version", "--json"], { cwd: root, quiet: true }).trim() !== "";
  } catch (error) {
    // npm writes the error as JSON because of --json.
    const out = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    if (out.includes("E404")) return false;
    throw new Error(`The registry cannot be asked for ${specifier}. Check the network with npm ping.`, {
      cause: error,
    });
  }
}
