// @ts-check
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { NotAvailable } from "../../support/runner.mjs";

/** The source distribution of this Python package contains the official JSON-Schema-Test-Suite in its folder `json`. */
const version = "4.26.0";
const sha256 = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326";

/**
 * Returns the folder of the official test suite, which is downloaded on the first call.
 *
 * An archive that is already in `tools` is used without a download. Its hash is checked in any case. Throws `NotAvailable` if the
 * suite cannot be installed.
 *
 * @param {string} tools
 * @returns {string}
 */
export function installSuite(tools) {
  const name = `jsonschema-${version}`;
  const suite = path.join(tools, name, "json");
  const marker = path.join(tools, ".extracted");
  if (existsSync(suite) && existsSync(marker) && readFileSync(marker, "utf8") === sha256) return suite;

  mkdirSync(tools, { recursive: true });
  const archive = path.join(tools, `${name}.tar.gz`);
  if (!existsSync(archive)) download(tools);
  const found = createHash("sha256").update(readFileSync(archive)).digest("hex");
  if (found !== sha256) throw new NotAvailable(`${archive} has SHA-256 ${found}; expected ${sha256}. Delete the file.`);
  rmSync(path.join(tools, name), { recursive: true, force: true });
  run("tar", ["-xzf", archive, "-C", tools, `${name}/json`]);
  writeFileSync(marker, sha256);
  return suite;
}

/**
 * Downloads the archive with pip, which checks its hash before it runs the package's build backend for the metadata.
 *
 * @param {string} tools
 */
function download(tools) {
  const requirements = path.join(tools, "requirements.txt");
  writeFileSync(requirements, `jsonschema==${version} --hash=sha256:${sha256}\n`);
  const python = ["python3", "python"].find((program) => spawnSync(program, ["--version"]).status === 0);
  if (python === undefined) throw new NotAvailable("Python is not installed.");
  process.stderr.write("Downloading the JSON Schema test suite ...\n");
  // `:all:` instead of the name would also build the build backend from source.
  const args = ["download", "--quiet", "--no-deps", "--no-binary", "jsonschema", "--require-hashes"];
  run(python, ["-m", "pip", ...args, "--dest", tools, "--requirement", requirements]);
}

/** @param {string} program @param {readonly string[]} args */
function run(program, args) {
  const { status, error, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: 300_000 });
  if (status === 0) return;
  const reason = (error?.message ?? stderr).trim().split("\n").at(-1) ?? "";
  throw new NotAvailable(`${program} ${args.slice(0, 3).join(" ")} failed: ${reason.slice(0, 300)}`);
}
