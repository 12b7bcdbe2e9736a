// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../../scripts/ready.mjs";
import { drawChat } from "./draw-chat.mjs";
import { drawTerminal } from "./draw.mjs";

/**
 * Writes `docs/cli/chat.svg`, and `docs/cli/terminal.svg`, the picture of the README: runs commands of `mcparley` with the example of this repository, and draws their output.
 * The output is real; only the URL has a fixed port in place of the free one.
 */
const command = path.join(root, "packages/cli/dist/main.js");
const folder = path.join(root, "examples/handbook");
const server = spawn(process.execPath, [command, "serve", folder, "--port", "0", "--no-watch"], {
  stdio: ["ignore", "pipe", "inherit"],
});
const ended = once(server, "close");
const url = await firstUrl(server.stdout);
const shownUrl = "http://127.0.0.1:3333/mcp";

const session = [
  { words: ["list", url, "tools"], shown: `mcparley list ${shownUrl} tools`, lines: 9 },
  {
    words: ["call", url, "word_count", "text=Model Context Protocol"],
    shown: `mcparley call ${shownUrl} word_count text="Model Context Protocol"`,
    lines: 8,
  },
  { words: ["call", url, "word_cuont"], shown: `mcparley call ${shownUrl} word_cuont`, lines: 4 },
];
/** @type {import("./draw.mjs").Run[]} */
const lines = [];
for (const { words, shown, lines: most } of session) {
  lines.push({ text: `$ ${shown}`, name: "command" });
  const { stdout, stderr } = spawnSync(process.execPath, [command, ...words], {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const printed = `${stdout}${stderr}`.replaceAll(url, shownUrl).trimEnd().split("\n");
  const cut = printed.length > most ? [...printed.slice(0, most), "  ..."] : printed;
  lines.push(...cut.map((text) => ({ text: text.length > 98 ? `${text.slice(0, 97)}…` : text })), { text: "" });
}
server.kill("SIGTERM");
await ended;
lines.pop();
const label = "A terminal: mcparley lists and calls the tools of a server, and corrects a misspelt name";
const picture = drawTerminal(
  lines.map((line) => [line]),
  { label, width: 860 },
);
writeFileSync(path.join(root, "docs/cli/terminal.svg"), picture);
writeFileSync(path.join(root, "docs/cli/chat.svg"), await drawChat());

/** @param {NodeJS.ReadableStream} output @returns {Promise<string>} */
async function firstUrl(output) {
  let printed = "";
  for await (const chunk of output) {
    printed += chunk;
    const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed);
    if (found) {
      output.resume();
      return found[0];
    }
  }
  throw new Error(`The server printed no URL.\n${printed}`);
}
