// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const minimum = [20, 19];

/** Without these limits npm retries for minutes without output if the registry is unavailable. */
const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000"];
/** Milliseconds for an installation. */
const installLimit = 10 * 60_000;
const offlineCure =
  "The packages come from the npm registry. Check the network with `npm ping`; behind a proxy, set `npm config set https-proxy URL`.";

/**
 * Installs and builds missing or stale parts, so that a fresh clone needs one command. Uses Node and npm alone.
 *
 * Each finished step is recorded in `node_modules/.mcparley` with a digest of its inputs.
 */
export function makeReady() {
  checkNode();
  const lock = digest(["package.json", "package-lock.json", ...manifests()]);
  // Not `npm ci`, which fails if a registry lacks a tool's binary for some other platform that the lock file names.
  const install = ["install", "--no-save", "--no-audit", "--no-fund", ...patience];
  step("install", { wanted: lock, product: "node_modules/.package-lock.json" }, () => npm(install));
  const sources = digest(sourceFiles());
  step("build", { wanted: `${lock}-${sources}`, product: "packages/cli/dist/main.js" }, () => {
    run(node("typescript/bin/tsc"), ["-b"]);
    run(path.join(root, "scripts/bundle.mjs"), []);
  });
  const guides = digest([
    ...guideFiles(),
    "scripts/guides.mjs",
    "scripts/llms.mjs",
    "site/scripts/markdown.mjs",
    "scripts/release/project.mjs",
  ]);
  step("guides", { wanted: `${lock}-${guides}`, product: "packages/mcparley/docs/README.md" }, () => {
    run(path.join(root, "scripts/guides.mjs"), []);
  });
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = minimum;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  fail(`Node ${minimum.join(".")} or newer is needed; this is ${process.versions.node}.`);
}

/**
 * @param {string} name
 * @param {{ wanted: string; product: string }} made the current inputs of the step, and a file that exists when the step is done
 * @param {() => void} action
 */
function step(name, { wanted, product }, action) {
  const marker = path.join(root, "node_modules", ".mcparley", name);
  const done = existsSync(marker) && existsSync(path.join(root, product)) && readFileSync(marker, "utf8") === wanted;
  if (done) return;
  if (name !== "guides") process.stderr.write(`${name === "install" ? "Installing dependencies" : "Building"} ...\n`);
  action();
  mkdirSync(path.dirname(marker), { recursive: true });
  writeFileSync(marker, wanted);
}

/** @param {readonly string[]} args */
function npm(args) {
  const isWindows = process.platform === "win32";
  run(isWindows ? "npm.cmd" : "npm", args, { shell: isWindows, timeout: installLimit, cure: offlineCure });
}

/** @param {string} file a program of an installed package, run with this Node */
function node(file) {
  return path.join(root, "node_modules", file);
}

/**
 * Runs a program to its end with its output on stderr, and exits this process if it fails.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ shell?: boolean; timeout?: number; cure?: string }} options the time limit is in milliseconds
 */
function run(program, args, { shell = false, timeout, cure = "" } = {}) {
  const isScript = program.startsWith(root);
  const [command, all] = isScript ? [process.execPath, [program, ...args]] : [program, args];
  const result = spawnSync(command, all, { cwd: root, stdio: ["ignore", 2, 2], shell, timeout });
  if (result.status === 0) return;
  const isLate = result.error !== undefined && "code" in result.error && result.error.code === "ETIMEDOUT";
  fail(`${path.basename(program)} ${args[0] ?? ""} ${isLate ? "took too long" : "failed"}. ${cure}`.trimEnd());
}

/** @param {readonly string[]} files */
function digest(files) {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(path.join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

function manifests() {
  return ["packages", "examples"].flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .map((name) => path.join(folder, name, "package.json"))
      .filter((file) => existsSync(path.join(root, file))),
  );
}

function sourceFiles() {
  const files = ["tsconfig.base.json", "tsconfig.json", "scripts/bundle.mjs"];
  for (const name of readdirSync(path.join(root, "packages"))) {
    const folder = path.join("packages", name, "src");
    if (!existsSync(path.join(root, folder))) continue;
    const inside = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" });
    for (const file of inside.toSorted()) {
      const full = path.join(folder, file);
      if (file.endsWith(".ts") && !file.endsWith(".test.ts") && statSync(path.join(root, full)).isFile())
        files.push(full);
    }
  }
  return files;
}

function guideFiles() {
  return readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(md|svg)$/.test(file))
    .map((file) => path.join("docs", file))
    .toSorted();
}

/** @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
