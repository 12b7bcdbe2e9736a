// @ts-check
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { say, startEndpoint, toolCall } from "../support/scripted-endpoint.mjs";
import { root } from "../../../scripts/ready.mjs";
import { drawSession } from "./draw-session.mjs";

/** @import { ModelScript } from "../support/scripted-endpoint.mjs" */
/** @import { Step } from "./draw-session.mjs" */

const words = "mcparley chat --model ollama/qwen3 -- mcparley serve examples/handbook --stdio".split(" ");
const size = { columns: 98, rows: 40 };

/** The answers of the model. The second one repeats numbers of the result. @type {ModelScript} */
const script = [
  say("I count its words.", toolCall("handbook__word_count", { document: "on-call.md" })),
  ({ messages }) => {
    const result = JSON.parse(/\{.*"words".*\}/.exec(messages.at(-1)?.content)?.[0] ?? "{}");
    return say(`The on-call guide has ${result.words} words. You need about ${result.minutesToRead} minutes.`);
  },
];

/** @type {readonly Step[]} */
const steps = [
  { waitFor: /^handbook is connected[\s\S]*1 of 1 servers connected/m },
  { type: "How long does it take to read the on-call guide?" },
  { key: "enter" },
  { waitFor: "[v]iew?" },
  { type: "y" },
  { key: "enter" },
  { waitFor: "tokens in" },
  { waitFor: /^>$/m },
  { type: "/handbook" },
  { waitFor: /^\* \/handbook/m },
];

/**
 * Returns the picture of a chat with the example of this repository. The command and the server are real; the answers of the model
 * are scripted.
 */
export async function drawChat() {
  const home = mkdtempSync(path.join(tmpdir(), "mcparley-picture-"));
  const endpoint = await startEndpoint(script);
  const prompt = `printf '\\033[1;32m$ %s\\033[0m\\n' "$*"; exec "$@"`;
  const bin = path.join(root, "node_modules/.bin");
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: home,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    OLLAMA_HOST: endpoint.url.replace(/\/v1$/, ""),
  };
  try {
    const label = "A terminal: a model calls a tool of a server, after the user has seen and allowed the call";
    return await drawSession(
      { command: ["sh", "-c", prompt, "sh", ...words], env, cwd: root, ...size },
      { label, steps },
    );
  } finally {
    await endpoint.close();
    rmSync(home, { recursive: true, force: true });
  }
}
