// @ts-check
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Program, freePorts } from "./program.mjs";

const node = path.join(import.meta.dirname, "node.mjs");
const example = path.join(import.meta.dirname, "../../../examples/deployed/nginx.conf");

/** @typedef {{ index: number, port: number, url: string, program: Program }} Node */

/**
 * Server processes behind nginx, as the deployed example has it: each request goes to the next.
 *
 * @param {{ nodes?: number, env?: (index: number) => Record<string, string> }} how
 */
export async function deploy({ nodes: count = 3, env = () => ({}) }) {
  const [front = 0, ...ports] = await freePorts(count + 1);
  /** @type {Node[]} */
  const nodes = await Promise.all(ports.map((port, index) => startNode(index, port, env(index))));
  const nginx = await startNginx(front, ports);
  return {
    url: `http://127.0.0.1:${front}/mcp`,
    nodes,
    /** Kills a process at once, as if it ran out of memory. @param {number} index */
    kill: (index) => nodes[index]?.program.end("SIGKILL"),
    /** @param {number} index */
    async restart(index) {
      nodes[index] = await startNode(index, ports[index] ?? 0, env(index));
    },
    /** The errors that they reported. */
    errors: () => nodes.map(({ program }) => program.output.replace(/^http.*\n/, "")).join(""),
    async end() {
      await Promise.all([nginx.end(), ...nodes.map(({ program }) => program.end("SIGKILL"))]);
    },
  };
}

/** @param {number} index @param {number} port @param {Record<string, string>} env @returns {Promise<Node>} */
async function startNode(index, port, env) {
  const program = new Program(process.execPath, [node], { env: { ...process.env, ...env, PORT: String(port) } });
  const [url] = await program.says(/^http:\S+/m);
  return { index, port, url, program };
}

/** @param {number} front @param {readonly number[]} ports */
async function startNginx(front, ports) {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-nginx-"));
  // A restarted process receives requests at once. After three restarts in one second nginx would have no process that it trusts.
  const upstream = ports.map((port) => `    server 127.0.0.1:${port} max_fails=0;`).join("\n");
  const conf = readFileSync(example, "utf8")
    .replace(/(\n\s*server 127\.0\.0\.1:\d+;)+/, `\n${upstream}`)
    .replace(/listen [^;]+;/, `listen 127.0.0.1:${front};`)
    .replace("http {", `http {\n  access_log off;\n${temporary(folder)}`);
  const file = path.join(folder, "nginx.conf");
  const head = ["daemon off;", "worker_processes 1;", `pid ${folder}/pid;`, "error_log stderr warn;"];
  // nginx runs as the user who starts it, so that it can use the user's files.
  if (process.getuid?.() === 0) head.push("user root;");
  writeFileSync(file, `${head.join("\n")}\n${conf}`);
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  const program = new Program("nginx", ["-e", "stderr", "-p", folder, "-c", file], { env });
  await untilAnswers(front, program);
  return {
    async end() {
      await program.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {string} folder */
function temporary(folder) {
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return kinds.map((kind) => `  ${kind}_temp_path ${folder}/${kind};`).join("\n");
}

/** @param {number} port @param {Program} program */
async function untilAnswers(port, program) {
  for (;;) {
    if (program.hasEnded) throw new Error(`nginx ended:\n${program.output}`);
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "OPTIONS" }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
