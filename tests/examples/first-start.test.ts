import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const ready = fileURLToPath(new URL("../../scripts/ready.mjs", import.meta.url));

/** Returns the URL of a registry that does not exist. */
async function closedRegistry(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/`;
}

test("the first start without a network fails with the reason and the cure", async () => {
  const folder = await mkdtemp(join(tmpdir(), "mcparley-first-start-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const name of ["scripts", "packages", "examples"]) await mkdir(join(folder, name));
  await copyFile(ready, join(folder, "scripts/ready.mjs"));
  await writeFile(join(folder, "package.json"), '{ "type": "module", "dependencies": { "zod": "4.6.7" } }');
  await writeFile(join(folder, "package-lock.json"), "{}");
  const env = { ...process.env, npm_config_registry: await closedRegistry(), npm_config_cache: join(folder, "cache") };
  const program = 'import("./scripts/ready.mjs").then(({ makeReady }) => makeReady())';
  const child = spawn(process.execPath, ["-e", program], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (errors += piece));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(code).toBe(1);
  expect(errors).toContain("Installing dependencies ...");
  expect(errors).toContain(
    "npm install failed. The packages come from the npm registry. Check the network with `npm ping`",
  );
}, 120_000);
