// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { makeReady, root } from "./ready.mjs";

/**
 * Writes `docs/terminal.svg`, the picture of the README: runs commands of `mcparley` with the example of this repository, and draws their output.
 * The output is real; only the URL has a fixed port in place of the free one.
 */
makeReady();

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
/** @type {{ text: string; isCommand: boolean }[]} */
const lines = [];
for (const { words, shown, lines: most } of session) {
  lines.push({ text: `$ ${shown}`, isCommand: true });
  const { stdout, stderr } = spawnSync(process.execPath, [command, ...words], {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const printed = `${stdout}${stderr}`.replaceAll(url, shownUrl).trimEnd().split("\n");
  const cut = printed.length > most ? [...printed.slice(0, most), "  ..."] : printed;
  lines.push(...cut.map((text) => ({ text: text.length > 98 ? `${text.slice(0, 97)}…` : text, isCommand: false })), {
    text: "",
    isCommand: false,
  });
}
server.kill("SIGTERM");
await ended;
lines.pop();
writeFileSync(path.join(root, "docs/terminal.svg"), draw());

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

function draw() {
  const [width, lineHeight, top] = [860, 20, 52];
  const height = top + lines.length * lineHeight + 8;
  const rows = lines.map(({ text, isCommand }, index) => {
    const y = top + index * lineHeight;
    return `  <text x="20" y="${y}"${isCommand ? ' class="command"' : ""} xml:space="preserve">${escape(text)}</text>`;
  });
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (colour, index) => `  <circle cx="${22 + index * 20}" cy="20" r="6" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: mcparley lists and calls the tools of a server, and corrects a misspelt name">`,
    "  <style>text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d7dae0 } .command { fill: #7ee787; font-weight: 600 }</style>",
    `  <rect width="${width}" height="${height}" rx="10" fill="#161b22"/>`,
    ...dots,
    ...rows,
    "</svg>",
    "",
  ].join("\n");
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
