import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "mcparley/client";
import { type RunningHttpServer, listen } from "mcparley/node";
import { createServer, image, resource, tool } from "mcparley/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodedSlices, encodedSlices } from "./output/save-output.ts";
import { runWith } from "./testing/fake-io.ts";

const bytes = Buffer.alloc(3 * 1_048_576 + 1, "0123456789");
const text = "ä€😀\n".repeat(400_000);
const folder = mkdtempSync(path.join(tmpdir(), "mcparley large "));
const server = createServer({
  name: "large",
  version: "1.0.0",
  tools: { draw: tool({ call: () => image(bytes, "image/png") }) },
  resources: {
    bytes: resource("large://bytes", { read: () => new Uint8Array(bytes) }),
    text: resource("large://text", { read: () => text }),
  },
});

let http: RunningHttpServer;
beforeAll(async () => {
  http = await listen(server, 0);
});
afterAll(async () => {
  await http.close();
  rmSync(folder, { recursive: true });
});

const large = { connect, cwd: folder, env: { NO_COLOR: "1" } };

test.each([
  ["read URL large://bytes", bytes],
  ["read URL large://text", Buffer.from(text)],
  ["call URL draw", bytes],
])("--output contains all bytes of a large result: %s", async (line, expected) => {
  const { code, io } = await runWith(large, `${line.replace("URL", http.url)} -o result`);
  expect(code).toBe(0);
  expect(io.err()).toMatch(/^Wrote result \(\d\.?\d* MiB/);
  expect(readFileSync(path.join(folder, "result")).equals(expected)).toBe(true);
});

test("a large result in a pipe is complete", async () => {
  expect((await runWith(large, `read ${http.url} large://bytes`)).io.bytes().equals(bytes)).toBe(true);
  expect((await runWith(large, `read ${http.url} large://text`)).io.out()).toBe(text);
});

test("the arrival of a large reply is shown on a terminal, and removed before the result", async () => {
  const { code, io } = await runWith({ ...large, terminal: true }, `read ${http.url} large://bytes -o result`);
  expect(code).toBe(0);
  expect(io.err()).toMatch(/\d+% \(received 1 of 5 MiB\)/);
  expect(io.err()).toContain("(received 4 of 5 MiB)");
  expect(io.err()).toContain("\r\u001b[2KWrote result");
  expect(io.out()).toBe("");
});

test("the arrival of a large reply is not shown without a terminal, and not with --json", async () => {
  expect((await runWith(large, `read ${http.url} large://bytes`)).io.err()).toBe("");
  const { io } = await runWith({ ...large, terminal: true }, `read ${http.url} large://bytes --json`);
  expect(io.err()).toBe("");
  expect(JSON.parse(io.out()).contents).toHaveLength(1);
});

test("--max-reply lowers and raises the limit of a reply, and the error names a sufficient size", async () => {
  const refused = await runWith(large, `read ${http.url} large://bytes --max-reply 1.5MiB`);
  expect(refused.code).toBe(2);
  expect(refused.io.err()).toContain("The server answered with more than 1572864 bytes.");
  expect(refused.io.err()).toContain("Allow larger replies with --max-reply, such as --max-reply 6MiB.");
  expect((await runWith(large, `read ${http.url} large://bytes --max-reply 6MiB -o result`)).code).toBe(0);
});

test("base64 and text are converted in slices that together are the whole", () => {
  const base64 = bytes.toString("base64");
  const decoded = [...decodedSlices(base64)];
  expect(decoded.length).toBeGreaterThan(3);
  expect(Buffer.concat(decoded).equals(bytes)).toBe(true);
  // Some servers break the lines of base64.
  expect(Buffer.concat([...decodedSlices(base64.replaceAll(/.{76}/g, "$&\r\n"))]).equals(bytes)).toBe(true);
  for (const shift of [0, 1]) {
    const shifted = "x".repeat(shift) + "😀".repeat(1_100_000);
    expect(Buffer.concat([...encodedSlices(shifted)]).equals(Buffer.from(shifted))).toBe(true);
  }
});
