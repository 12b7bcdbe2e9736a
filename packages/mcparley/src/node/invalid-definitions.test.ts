import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "mcparley-"));
});
afterAll(() => rm(directory, { recursive: true }));

const bad = 'tool({ input: z.object({ born: z.date() }), call: () => "" })';
const invalidHeader = 'tool({ input: z.object({ a: z.string().meta({ "x-mcp-header": "A B" }) }), call: () => "" })';
const keepRunning = "setInterval(() => {}, 1_000);";

test.each([
  [
    "listen",
    bad,
    `await listen(server, 0).catch((error) => (console.error(error.message), process.exit(1))); ${keepRunning}`,
    /^The tool "t" cannot be offered: "input": .* at "born": Date cannot .* Use a schema of a JSON value there/,
  ],
  ["listen", invalidHeader, "await listen(server, 0);", /tool "t".*x-mcp-header of "a" is "A B"/],
  ["serveStdio", bad, `void serveStdio(server); ${keepRunning}`, /The tool "t" cannot be offered: .* at "born"/],
])("a definition that is invalid ends the process of %s: %s", async (name, tool, start, message) => {
  const outfile = join(directory, `${name}-${tool === bad}.mjs`);
  await build({
    stdin: {
      contents: `import { createServer, tool } from "./server.ts";
        import { listen } from "./node.ts";
        import { serveStdio } from "./stdio.ts";
        import { z } from "zod";
        const server = createServer({ name: "test", version: "1", tools: { t: ${tool} } });
        ${start}`,
      resolveDir: fileURLToPath(new URL("..", import.meta.url)),
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
  });
  const child = spawn(process.execPath, [outfile], { stdio: ["pipe", "ignore", "pipe"] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(stderr).toMatch(message);
  expect(code).toBe(1);
});
