import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

/**
 * Stands between a client and the program that it starts as its server, and notes each line of both in a file:
 * `node tap.mjs FILE PROGRAM ARGUMENT ...`
 */
const [file = "", program = "", ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });

note(process.stdin, "→");
note(child.stdout, "←");
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.stdin.on("error", () => {});
child.on("exit", (code, signal) => {
  appendFileSync(file, `the server ended with ${code ?? signal}\n`);
  process.exit(code ?? 1);
});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill(signal));

function note(stream, mark) {
  let rest = "";
  stream.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) appendFileSync(file, `${mark} ${line}\n`);
  });
}
