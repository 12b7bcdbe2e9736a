import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { extractSamples } from "../docs/extract-samples.ts";
import { rawHttp } from "../support/raw-http.ts";

test("the sample of workers in the guide serves a call in workers, and ends on SIGTERM", async () => {
  // In this repository, so that the sample finds the library.
  const into = fileURLToPath(new URL(".generated", import.meta.url));
  const samples = extractSamples("docs/operate/multiple-processes.md", into);
  const sample = samples.find(({ file }) => file.endsWith("workers.ts"));
  const outfile = `${sample!.file}.mjs`;
  await build({
    entryPoints: [sample!.file],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
  });
  const child = spawn(process.execPath, [outfile], {
    cwd: path.dirname(outfile),
    env: { PATH: process.env.PATH, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const [, url = ""] = /^Listening on (http:\S+)$/.exec(line) ?? [];
  const answer = await rawHttp(url, fetch).modern("tools/call", { name: "status", arguments: {} });
  expect((await answer.json()).result).toMatchObject({ content: [{ text: "All systems work." }] });
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});
