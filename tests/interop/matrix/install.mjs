// @ts-check
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { installLocked } from "../../../scripts/npm.mjs";
import { NotAvailable } from "../../support/runner.mjs";
import { newerNode } from "../runtimes/obtain.mjs";

/** @import { Peer } from "./types.ts" */

/** The installed program, or the reason why it cannot be installed. @typedef {{ node?: string, reason?: string }} Installed */

const pinned = path.join(import.meta.dirname, "tools");

/**
 * Installs the pinned packages of a kind of peer into a separate folder, unless they are installed. Returns the path of Node for them, or the reason why these peers cannot run.
 *
 * @param {Peer["needs"]} kind
 * @param {string} tools
 * @returns {Installed}
 */
export function install(kind, tools) {
  mkdirSync(tools, { recursive: true });
  try {
    return { node: installers[kind](tools) };
  } catch (error) {
    if (error instanceof NotAvailable) return { reason: error.message };
    throw error;
  }
}

/** @type {Record<Peer["needs"], (tools: string) => string>} */
const installers = {
  node(tools) {
    installPackages(tools);
    return process.execPath;
  },
  node22(tools) {
    installPackages(tools);
    return newerNode();
  },
  python: (tools) => installPython(tools, "python"),
  "python-v1": (tools) => installPython(tools, "python-v1"),
  "python-fastmcp": (tools) => installPython(tools, "python-fastmcp"),
  go: (tools) => buildGo(tools),
  rust: (tools) => buildRust(tools),
};

/** Installs the packages, and the fixtures in the same folder, so that imports of the fixtures resolve. @param {string} tools */
function installPackages(tools) {
  const folder = path.join(tools, "node");
  const reason = installLocked(path.join(pinned, "node"), folder);
  if (reason !== undefined) throw new NotAvailable(reason);
  const place = path.join(folder, "matrix");
  rmSync(place, { recursive: true, force: true });
  for (const part of ["conversations.mjs", "driver.mjs", "peers"]) {
    cpSync(path.join(import.meta.dirname, part), path.join(place, part), { recursive: true });
  }
}

/** @param {string} tools @param {string} name */
function installPython(tools, name) {
  const folder = path.join(tools, name);
  const requirements = path.join(pinned, name, "requirements.txt");
  once(folder, [requirements], () => {
    const python = ["python3", "python"].find((program) => spawnSync(program, ["--version"]).status === 0);
    if (python === undefined) throw new NotAvailable("There is no Python.");
    run(python, ["-m", "venv", folder], tools);
    const inside = path.join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
    run(inside, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements], tools);
  });
  return process.execPath;
}

/** @param {string} tools */
function buildGo(tools) {
  const source = path.join(import.meta.dirname, "peers/go-sdk");
  const folder = path.join(tools, "go-sdk");
  const files = ["go.mod", "go.sum", "server/main.go", "client/main.go"].map((file) => path.join(source, file));
  once(folder, files, () => {
    const env = {
      GOMODCACHE: path.join(tools, "go-modules"),
      GOFLAGS: "-mod=readonly -modcacherw",
      GOTOOLCHAIN: "local",
    };
    for (const side of ["server", "client"])
      run("go", ["build", "-o", path.join(folder, "bin/"), `./${side}`], source, env);
  });
  return process.execPath;
}

/** @param {string} tools */
function buildRust(tools) {
  const source = path.join(import.meta.dirname, "peers/rmcp");
  const folder = path.join(tools, "rmcp");
  const files = ["Cargo.toml", "src/bin/server.rs", "src/bin/client.rs"].map((file) => path.join(source, file));
  once(folder, files, () => {
    const place = path.join(folder, "source");
    cpSync(source, place, { recursive: true });
    run("cargo", ["build", "--quiet"], place, {
      CARGO_TARGET_DIR: path.join(folder, "target"),
      CARGO_HOME: path.join(tools, "cargo"),
    });
    mkdirSync(path.join(folder, "bin"), { recursive: true });
    const ending = process.platform === "win32" ? ".exe" : "";
    for (const side of ["server", "client"]) {
      cpSync(path.join(folder, "target/debug", side + ending), path.join(folder, "bin", side + ending));
    }
  });
  return process.execPath;
}

/** Does something unless it was done from the same files before. @param {string} folder @param {readonly string[]} files @param {() => void} work */
function once(folder, files, work) {
  const marker = path.join(folder, ".made-from");
  const wanted = files.map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")).join("\0");
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return;
  process.stderr.write(`Installing ${path.basename(folder)} ...\n`);
  mkdirSync(folder, { recursive: true });
  work();
  writeFileSync(marker, wanted);
}

/** @param {string} program @param {readonly string[]} args @param {string} cwd @param {Record<string, string>} env */
function run(program, args, cwd, env = {}) {
  const { status, error, stderr, stdout } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  if (error) throw new NotAvailable(`There is no ${program}.`);
  if (status === 0) return;
  throw new NotAvailable(`${program} ${args[0]} failed: ${(stderr || stdout).trim().slice(-400)}`);
}
