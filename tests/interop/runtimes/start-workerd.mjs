import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * Starts workerd with a bundled Worker: `node start-workerd.mjs PROGRAM WORKER.js http|sse` writes the URL and serves until it
 * is ended, and `node start-workerd.mjs PROGRAM WORKER.js ASSIGNMENT` posts the assignment to the Worker, and writes its answer.
 */
const [program, worker, task = "http"] = process.argv.slice(2);
const folder = mkdtempSync(path.join(tmpdir(), "mcparley-workerd-"));
const isDurable = worker.includes("durable");
const durable = `
  durableObjectNamespaces = [(className = "Endpoint", uniqueKey = "endpoint")],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "ENDPOINT", durableObjectNamespace = "Endpoint")],`;
const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["local"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  modules = [(name = "worker", esModule = embed "worker.js")],${isDurable ? durable : ""}
);
`;
writeFileSync(path.join(folder, "worker.js"), readFileSync(worker));
writeFileSync(path.join(folder, "config.capnp"), config);

// workerd writes the port that the system assigned to this file descriptor.
const child = spawn(program, ["serve", path.join(folder, "config.capnp"), "--control-fd=3"], {
  stdio: ["ignore", "inherit", "inherit", "pipe"],
});
child.on("exit", (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(code ?? 0);
});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill());

const origin = `http://127.0.0.1:${await listeningPort(child.stdio[3])}`;
if (task === "http" || task === "sse") process.stdout.write(`${origin}/${task === "sse" ? "sse" : "mcp"}\n`);
else {
  const response = await fetch(origin, { method: "POST", body: task });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) process.stdout.write(decoder.decode(chunk, { stream: true }));
  if (!response.ok) process.stderr.write(`The Worker answered ${response.status}.\n`);
  child.kill();
}

async function listeningPort(events) {
  let text = "";
  for await (const chunk of events) {
    text += chunk;
    const port = /"port":\s*(\d+)/.exec(text)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error("workerd does not listen.");
}
