// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { packAll } from "../../scripts/artifact/pack.mjs";
import { installTools } from "../../scripts/npm.mjs";
import { NotAvailable } from "../support/runner.mjs";
import { root } from "../../scripts/ready.mjs";
import { obtain } from "../interop/runtimes/obtain.mjs";

/** @import { Program } from "./programs.mjs" */

const source = path.join(root, "examples/frameworks");
const preload = path.join(import.meta.dirname, "on-loopback.mjs");
const tsx = pathToFileURL(path.join(root, "node_modules/tsx/dist/loader.mjs")).href;

/** Packs the library into a folder of `.tools`. Returns the tarball, whose name changes with its contents. */
export function packLibrary() {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-frameworks-"));
  try {
    const packed = packAll(folder).find(({ name }) => name === "mcparley");
    if (!packed) throw new Error("The package mcparley was not packed.");
    const digest = createHash("sha256").update(readFileSync(packed.file)).digest("hex").slice(0, 16);
    const kept = path.join(root, ".tools/frameworks/packed", `mcparley-${digest}.tgz`);
    rmSync(path.dirname(kept), { recursive: true, force: true });
    mkdirSync(path.dirname(kept), { recursive: true });
    copyFileSync(packed.file, kept);
    return kept;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Installs the packages of a program and the packed library, copies the example below them, compiles it, and builds it.
 * Returns the folder of the program. Throws `NotAvailable` if the packages cannot be installed.
 *
 * @param {Program} program @param {string} tarball
 */
export function installProgram({ name, file, packages, types = "node", build: buildArgs }, tarball) {
  const manifest = JSON.parse(readFileSync(path.join(source, "package.json"), "utf8"));
  const versions = { ...manifest.dependencies, ...manifest.devDependencies };
  const wanted = Object.fromEntries(["zod", "@types/node", ...packages].map((word) => [word, versions[word]]));
  const folder = installTools(path.join("frameworks", name), { ...wanted, mcparley: `file:${tarball}` });
  if (folder === undefined) throw new NotAvailable(`${packages.join(", ")} cannot be installed.`);
  const place = path.join(folder, "program");
  rmSync(place, { recursive: true, force: true });
  cpSync(source, place, { recursive: true, filter: (name) => path.basename(name) !== "node_modules" });
  const compilerOptions = { types: [types], lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"] };
  writeFileSync(
    path.join(place, "tsconfig.check.json"),
    JSON.stringify({ extends: "./tsconfig.json", compilerOptions, files: [file] }),
  );
  run(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.check.json"], place);
  if (buildArgs) run(process.execPath, buildArgs, place);
  return place;
}

/**
 * Starts a program, and waits until it listens. Throws `NotAvailable` if its runtime is unavailable.
 *
 * @param {Program} program @param {string} folder the folder in which it is installed
 * @returns {Promise<{ origin: string; ca: string | undefined; output: () => string; stop: () => Promise<number | null> }>}
 */
export async function startProgram(program, folder) {
  const ca = program.tls ? makeCertificate(folder) : undefined;
  const { command, args } = await commandOf(program, folder);
  const env = { ...process.env, NO_COLOR: "1", TSX_DISABLE_CACHE: "1", NEXT_TELEMETRY_DISABLED: "1" };
  const child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  let output = "";
  const ended = once(child, "close").then(([code]) => /** @type {number | null} */ (code));
  const port = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr, child.stdio[3]]) {
      stream?.on("data", (/** @type {Buffer} */ chunk) => {
        output += chunk.toString();
        const found = /The port is (\d+)|"event":"listen".*"port":(\d+)/.exec(output);
        if (found) resolve(found[1] ?? found[2]);
      });
    }
    void ended.then(() => reject(new Error(`The program ended before it listened.\n${output}`)));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    const code = await ended;
    clearTimeout(timer);
    return code;
  };
  return { origin: `${ca ? "https" : "http"}://127.0.0.1:${port}`, ca, output: () => output, stop };
}

/** @param {Program} program @param {string} folder */
async function commandOf({ name, file, runtime, start }, folder) {
  if (runtime === "node") {
    const program = start ?? ["--import", tsx, file];
    return { command: process.execPath, args: ["--import", pathToFileURL(preload).href, ...program] };
  }
  const { program: command, reason } = obtain(runtime);
  if (command === undefined) throw new NotAvailable(reason);
  if (runtime === "workerd") {
    const config = await bundleWorker(folder, file);
    return { command, args: ["serve", "--control-fd=3", config] };
  }
  const args = name === "bun" ? ["--preload", preload, file] : ["run", "--preload", preload, "-A", "--no-check", file];
  return { command, args };
}

/** Bundles a Worker, as `wrangler deploy` does, and writes the configuration of workerd. @param {string} folder @param {string} file */
async function bundleWorker(folder, file) {
  await build({
    absWorkingDir: folder,
    entryPoints: [file],
    outfile: path.join(folder, "worker.mjs"),
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    logLevel: "error",
  });
  const config = path.join(folder, "worker.capnp");
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
    compatibilityDate = "2026-11-01",
    compatibilityFlags = ["enable_request_signal"],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`,
  );
  return config;
}

/** Writes `key.pem` and `cert.pem` for 127.0.0.1. Returns the certificate. @param {string} folder */
function makeCertificate(folder) {
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem"];
  const args = ["req", "-x509", "-days", "2", ...key, "-out", "cert.pem", ...subject];
  const { status } = spawnSync("openssl", args, { cwd: folder, stdio: "ignore" });
  if (status !== 0) throw new NotAvailable("openssl cannot make a certificate.");
  return readFileSync(path.join(folder, "cert.pem"), "utf8");
}

/** @param {string} command @param {readonly string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const env = { ...process.env, NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1" };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}.\n${stdout}${stderr}`);
}
