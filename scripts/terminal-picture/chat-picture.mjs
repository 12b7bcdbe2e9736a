// @ts-check
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { say, startEndpoint, toolCall } from "../../tests/chat/support/scripted-endpoint.mjs";
import { root } from "../ready.mjs";
import { drawSession } from "./draw-session.mjs";

const columns = 96;
const rows = 26;
const question = "How did we handle the last search outage?";
const answer =
  "The search index was empty after a release, and searches returned no results. The fix was to build the index before the switch, and to check its size.";

/**
 * Returns the picture of a chat with the example of this repository. The chat and the server are real; the model is scripted.
 *
 * @param {string} command the built command
 */
export async function drawChat(command) {
  const home = await mkdtemp(path.join(tmpdir(), "mcparley picture-"));
  const endpoint = await startEndpoint([
    say("I look it up. ", toolCall("handbook__search_documents", { query: "empty index", limit: 1 })),
    say(answer),
  ]);
  const bin = path.join(root, "packages/cli/bin/mcparley.cjs");
  const server = [bin, "serve", path.join(root, "examples/handbook"), "--stdio", "--no-watch"];
  const model = ["--model", "qwen3", "--base-url", endpoint.url];
  try {
    return await drawSession(
      {
        command: [process.execPath, command, "chat", ...model, "--", process.execPath, ...server],
        env: { PATH: process.env["PATH"], HOME: home, TERM: "xterm-256color" },
        cwd: home,
        columns,
        rows,
      },
      {
        label: "A terminal: mcparley chat asks before it calls a tool, and the model answers with the result",
        replace: new Map([[new URL(endpoint.url).port, "11434"]]),
        steps: [
          { waitFor: "is connected" },
          { type: question },
          { key: "enter" },
          { waitFor: "Call it?" },
          { type: "y" },
          { key: "enter" },
          { waitFor: "tokens in" },
          { waitFor: /^> ?$/m },
        ],
      },
    );
  } finally {
    await endpoint.close();
    await rm(home, { recursive: true, force: true });
  }
}
