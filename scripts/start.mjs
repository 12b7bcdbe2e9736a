// @ts-check
import { makeReady, root } from "./ready.mjs";
import path from "node:path";
import { spawn } from "node:child_process";

makeReady();

const command = path.join(root, "packages/cli/dist/main.js");
const folder = path.join(root, "examples/handbook");
const server = spawn(process.execPath, [command, "serve", folder, ...process.argv.slice(2)], { stdio: "inherit" });
// The terminal sends Ctrl-C to the server too. This process waits until the server has ended.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => server.kill("SIGTERM"));
server.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));
