// @ts-check
import { makeReady, root } from "./ready.mjs";
import path from "node:path";
import { spawn } from "node:child_process";

makeReady();

const command = path.join(root, "packages/cli/dist/main.js");
const folder = path.join(root, "examples/handbook");
const server = spawn(process.execPath, [command, "serve", folder, ...process.argv.slice(2)], { stdio: "inherit" });
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.on(signal, () => server.kill(signal));
server.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
