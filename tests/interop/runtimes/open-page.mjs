import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * Opens the page of a folder in Chromium, and writes its reports:
 * `node open-page.mjs PROGRAM FOLDER CHROMIUM-ARGUMENT ... ASSIGNMENT`
 */
const [program, folder, ...rest] = process.argv.slice(2);
const assignment = rest.pop();
const profile = mkdtempSync(path.join(tmpdir(), "mcparley-chromium-"));
const html = '<!doctype html><meta charset="utf-8"><script type="module" src="/page.js"></script>';

const server = createServer((request, response) => {
  if (request.method === "POST") void receive(request, response);
  else send(response, found(request.url ?? "/"));
});
server.listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));

const url = `http://127.0.0.1:${server.address().port}/`;
const child = spawn(
  program,
  [...rest, "--headless", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`, url],
  {
    stdio: ["ignore", "ignore", "pipe"],
  },
);
let complaints = "";
child.stderr.on("data", (chunk) => (complaints = (complaints + chunk).slice(-2_000)));
child.on("exit", () => end(1, complaints));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => end(1, "The page was ended by a signal."));

function send(response, [type, body]) {
  response.writeHead(body === undefined ? 404 : 200, { "content-type": type });
  response.end(body);
}

function found(requested) {
  if (requested === "/") return ["text/html", html];
  if (requested === "/assignment") return ["application/json", assignment];
  const name = /^\/([\w-]+\.js)$/.exec(requested)?.[1];
  try {
    return ["text/javascript", name && readFileSync(path.join(folder, name))];
  } catch {
    return ["text/plain", undefined];
  }
}

async function receive(request, response) {
  let body = "";
  for await (const chunk of request) body += chunk;
  response.end();
  if (request.url === "/report") process.stdout.write(`${body}\n`);
  if (request.url === "/error") process.stderr.write(`the page: ${body}\n`);
  if (request.url === "/done") end(0);
}

function end(code, complaint = "") {
  process.stderr.write(complaint);
  child.removeAllListeners("exit");
  child.on("exit", () => {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    process.exit(code);
  });
  if (child.exitCode !== null || child.signalCode !== null) child.emit("exit");
  else child.kill();
}
