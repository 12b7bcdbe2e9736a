import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk, type EndpointReply, openAiEndpoint, usageChunk } from "../support/openai-endpoint.ts";
import { argumentsOf, runExample } from "./run-example.ts";

const main = argumentsOf("host/main.ts");

function calls(name: string, args: object): EndpointReply {
  const called = { index: 0, id: name, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return { chunks: [chunk({ tool_calls: [called] }), chunk({}, "tool_calls")] };
}

function says(text: string): EndpointReply {
  return { chunks: [chunk({ content: text }), chunk({}, "stop")] };
}

describe("host", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "mcparley host "));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Runs the example with lines on stdin. Returns its output and its exit code. */
  async function run(env: Record<string, string>, lines: readonly string[] = []): Promise<[string, number | null]> {
    const none = { BASE_URL: "", MODEL: "" };
    const { output, exited } = runExample(
      main,
      { ...none, XDG_CONFIG_HOME: folder, HOME: folder, ...env },
      lines.join("\n"),
    );
    const code = await exited;
    return [output(), code];
  }

  test("has under 60 lines", async () => {
    const text = await readFile(fileURLToPath(new URL("../../examples/host/main.ts", import.meta.url)), "utf8");
    expect(text.trimEnd().split("\n").length).toBeLessThan(60);
  });

  test("lists the tools, and explains how to configure a model", async () => {
    const [output, code] = await run({});
    expect(code, output).toBe(0);
    expect(output).toContain("clock__time_in: Returns a time in a time zone.");
    expect(output).toContain("handbook__search_documents: ");
    expect(output).toContain("Set BASE_URL and MODEL to chat");
  });

  test("reviews definitions, approves a call, denies a call, and prints the answers", async () => {
    const time = { zone: "Asia/Tokyo", at: "2026-07-28T12:00:00Z" };
    const endpoint = await openAiEndpoint([
      calls("clock__time_in", time),
      says("It is 21:00."),
      calls("clock__time_in", time),
      says("It was denied."),
    ]);
    const input = ["y", "y", "What time is it in Tokyo?", "y", "And now?", "n", ""];
    const [output, code] = await run({ BASE_URL: endpoint.url, MODEL: "test-model" }, input);
    await endpoint.close();
    expect(code, output).toBe(0);
    expect(output).toContain("new tool time_in");
    expect(output).toContain("Use these definitions of handbook? [y/N] ");
    expect(output).toMatch(/\[clock__time_in\]\nCall time_in of clock with .*Tokyo.*It is 21:00\./s);
    expect(output).toContain("It was denied.");
    const results = endpoint.requests.map(({ body }) => JSON.stringify(body));
    expect(results[1]).toContain("21:00");
    expect(results[3]).toMatch(/denied|declined/);
    expect(await readdir(folder)).toEqual([]);
  });

  test("prints the tokens and the cost of an answer", async () => {
    const reply = { chunks: [chunk({ content: "Hello." }), chunk({}, "stop"), usageChunk(20_000, 500)] };
    const endpoint = await openAiEndpoint([reply]);
    const env = { BASE_URL: endpoint.url, MODEL: "test-model", INPUT_PRICE: "3", OUTPUT_PRICE: "15" };
    const [output, code] = await run(env, ["y", "y", "Hello?", ""]);
    await endpoint.close();
    expect(code, output).toBe(0);
    expect(output).toContain("[answers: 20000 tokens in, 500 out, cost 0.0675]");
  });

  test("offers no tool of a server whose definitions the user does not accept", async () => {
    const endpoint = await openAiEndpoint([says("I have no tools.")]);
    const [output, code] = await run({ BASE_URL: endpoint.url, MODEL: "test-model" }, ["n", "n", "Hello?", ""]);
    await endpoint.close();
    expect(code, output).toBe(0);
    expect(output).not.toContain("clock__time_in: ");
    expect(output).toContain("I have no tools.");
    expect(JSON.stringify(endpoint.requests[0]?.body)).not.toContain("time_in");
  });
});
