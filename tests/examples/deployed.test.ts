import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { connect } from "mcparley/client";
import { afterEach, expect, test } from "vitest";

const main = fileURLToPath(new URL("../../examples/deployed/main.mjs", import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Started {
  child: ChildProcess;
  exited: Promise<number | null>;
  /** Its output on stderr. */
  errors: () => string;
  /** The first line of its output. */
  line: Promise<string>;
}

function start(env: Record<string, string>): Started {
  const child = spawn(process.execPath, [main], { env: { PATH: process.env.PATH ?? "", PORT: "0", ...env } });
  children.push(child);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  child.stdout.setEncoding("utf8");
  const exited = once(child, "close").then(([code]) => code as number | null);
  const line = once(child.stdout, "data").then(([text]) => String(text).trim());
  return { child, exited, errors: () => errors, line };
}

test("the deployed example answers, logs each call, and ends in good order when it is asked to", async () => {
  const { child, exited, errors, line } = start({ STATE_KEYS: Buffer.alloc(32, 1).toString("base64") });
  const client = await connect(await line);
  expect(await client.callTool("count_words", { text: "three little words" })).toBe("3 words");
  await client.close();
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  const logged = errors()
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text) as Record<string, unknown>);
  expect(logged).toContainEqual(
    expect.objectContaining({ msg: "call", name: "count_words", outcome: "ok", pid: child.pid }),
  );
});

test.each([
  [{ PORT: "http" }, 'PORT must be a number from 0 to 65535; got "http".'],
  [{ STATE_KEYS: "c2hvcnQ=" }, "STATE_KEYS must hold keys of 32 bytes in base64; number 1 has 5 bytes."],
])("a setting that is wrong is named: %j", async (env, message) => {
  const { exited, errors } = start(env);
  expect(await exited).not.toBe(0);
  expect(errors()).toContain(message);
});
