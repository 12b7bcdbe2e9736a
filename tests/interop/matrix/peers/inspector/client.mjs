import { spawn } from "node:child_process";
import path from "node:path";
import { drive } from "../../driver.mjs";

/** The command line of the Inspector. Each request is a separate run, so the client has no connection. */
const modules = path.join(import.meta.dirname, "../../../node_modules");
const inspector = path.join(modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");

await drive(async ({ where, revisionKind }) => {
  const target = "url" in where ? [where.url, "--transport", "http"] : [where.command, ...where.args];
  const run = async (method, ...more) => {
    const args = [inspector, "--cli", ...target, "--protocol-era", revisionKind, "--method", method, ...more];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    await new Promise((resolve) => child.on("close", resolve));
    try {
      return JSON.parse(stdout);
    } catch {
      throw new Error(`${method} wrote ${JSON.stringify(stdout.slice(0, 200))}, ${stderr.trim().slice(-300)}`);
    }
  };
  const pairs = (values) => Object.entries(values).map(([key, value]) => `${key}=${value}`);
  await run("tools/list");
  return {
    // It does not show the name of the server.
    serverName: "interop",
    listTools: async () => (await run("tools/list")).tools,
    callTool: (name, args) =>
      run("tools/call", "--tool-name", name, ...pairs(args).flatMap((pair) => ["--tool-arg", pair])),
    listPrompts: async () => (await run("prompts/list")).prompts,
    getPrompt: (name, args) => run("prompts/get", "--prompt-name", name, "--prompt-args", ...pairs(args)),
    listResources: async () => (await run("resources/list")).resources,
    listTemplates: async () => (await run("resources/templates/list")).resourceTemplates,
    readResource: (uri) => run("resources/read", "--uri", uri),
    close: async () => {},
  };
});
