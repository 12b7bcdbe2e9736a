import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { targetOf } from "./support/chat.ts";
import { hold, openModelEndpoint, say, toolCall } from "./support/model-endpoint.ts";
import { type Terminal, newHome, openTerminal, program } from "./support/terminal.ts";
import { type StdioTestServer, stdioTestServer } from "./support/test-server.ts";

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
}

type Open = (args: readonly string[], options?: Options) => Terminal;

const size = { columns: 110, rows: 45 };

const openDirectly: Open = (args, options) => openTerminal({ ...size, args, ...options });

/** Starts the command in a pane of tmux, which itself runs in the pseudo-terminal. */
const openInTmux: Open = (args, { home = newHome(), env = {} } = {}) => {
  const file = path.join(home, "tmux.conf");
  writeFileSync(file, "set -g status off\nset -g exit-empty on\n");
  const socket = path.join(home, "tmux.sock");
  onTestFinished(() => void spawnSync("tmux", ["-S", socket, "kill-server"]));
  const command = [process.execPath, program, ...args] as const;
  return openTerminal({
    ...size,
    home,
    env,
    command: ["tmux", "-S", socket, "-f", file, "new-session", "--", ...command],
  });
};

const terminals: readonly (readonly [string, Open])[] = [
  ["a terminal", openDirectly],
  ...(hasTmux ? [["tmux", openInTmux] as const] : []),
];

test.runIf(!hasTmux)("tmux is not installed, so the tests in tmux are not run", (context) => context.skip());

/** Returns the events of a server with a name. */
function eventsOf(server: StdioTestServer, name: string): unknown[] {
  return server.events().filter(({ event }) => event === name);
}

const notice = "Keys typed before the question, or within half a second after it, were ignored.";

test.each(terminals)(
  "an approval takes no key that is typed when it appears, and keeps the text, in %s",
  async (_, open) => {
    const server = stdioTestServer();
    const script = [say(toolCall("server__delete_all", { folder: "/tmp" })), say("It was denied.")];
    const endpoint = await openModelEndpoint(script);
    const model = ["--model", "small", "--base-url", endpoint.url];
    const terminal = open(["chat", ...model, ...targetOf(server)]);
    await terminal.waitFor("1 of 1 servers connected");
    terminal.press("Delete\r");
    await terminal.waitFor("[v]iew?");
    terminal.press("s\r");
    await terminal.waitForCursor("[v]iew?");
    expect(terminal.screen()).toMatch(/\[v\]iew\?\n> s$/);
    terminal.press("n\r");
    await terminal.waitForCursor("Reason for the model (Enter: none) >");
    terminal.press("Not now\r");
    await terminal.waitFor("It was denied.");
    await terminal.waitForCursor("> s");
    expect(eventsOf(server, "delete_all")).toEqual([]);
    expect(JSON.stringify(endpoint.requests.at(-1)?.messages)).toContain("Not now");
  },
);

test("text that is typed while the model works stays below its question with TERM=dumb too", async () => {
  const server = stdioTestServer();
  const { held, release } = hold();
  const endpoint = await openModelEndpoint([
    say(held, toolCall("server__echo", { text: "a" })),
    say("It was denied."),
    say("Yes."),
  ]);
  const model = ["--model", "small", "--base-url", endpoint.url];
  const terminal = openDirectly(["chat", ...model, ...targetOf(server)], { env: { TERM: "dumb" } });
  await terminal.waitFor("server is connected");
  terminal.press("Echo it\r");
  await endpoint.received(1);
  // The Enter follows after the question.
  terminal.press("y");
  await terminal.waitFor(/y$/);
  release();
  await terminal.waitFor("[v]iew?");
  terminal.press("\r");
  await terminal.waitFor('Your text "y" is kept for the next message.');
  terminal.press("n\r");
  await terminal.waitFor("Reason for the model");
  terminal.press("x");
  await terminal.waitFor('Your text "yx" is kept for the next message.');
  terminal.press("Not now\r");
  await terminal.waitFor("It was denied.");
  await terminal.waitFor('Press Enter to send "yx", or type another message.');
  terminal.press("\r");
  await terminal.waitFor("Yes.");
  expect(eventsOf(server, "echo")).toEqual([]);
  expect(endpoint.requests.at(-1)?.messages.at(-1)).toEqual({ role: "user", content: "yx" });
  expect(terminal.raw()).not.toContain("\u001b");
});

interface Case {
  /** The words of the command, for the test server. */
  readonly args: (server: StdioTestServer) => readonly string[];
  /** The end of the question. */
  readonly prompt: string;
  /** A text that would answer it, and an answer that refuses. */
  readonly yes: string;
  readonly no: string;
  /** The events of the server if the text has answered. */
  readonly event: string;
  /** Whether the server is one of a project. */
  readonly isProject?: boolean;
}

const cases: readonly (readonly [string, Case])[] = [
  [
    "a page",
    {
      args: (server) => ["call", "ask_url", ...targetOf(server)],
      prompt: "[c]ancel?",
      yes: "m",
      no: "n",
      event: "visited",
    },
  ],
  [
    "a field of a form",
    {
      args: (server) => ["call", "ask_form", ...targetOf(server)],
      prompt: ">",
      yes: "Ada",
      no: "/decline",
      event: "answered",
    },
  ],
  [
    "a destructive call",
    {
      args: (server) => ["call", "delete_all", "folder=/tmp", ...targetOf(server)],
      prompt: "[n]o?",
      yes: "y",
      no: "n",
      event: "delete_all",
    },
  ],
  [
    "a program of a project",
    { args: () => ["list", "project"], prompt: "[n]o?", yes: "y", no: "n", event: "started", isProject: true },
  ],
  [
    "a program of a project, before the chat",
    { args: () => ["chat", "project"], prompt: "[n]o?", yes: "y", no: "n", event: "started", isProject: true },
  ],
  [
    "the write of a configuration",
    {
      args: (server) => [
        "add",
        "--to",
        "claude-code",
        "--scope",
        "project",
        "--name",
        "notes",
        "--no-check",
        ...targetOf(server),
      ],
      prompt: "[n]o?",
      yes: "y",
      no: "n",
      event: "started",
    },
  ],
];

test.each(terminals.flatMap(([name, open]) => cases.map(([kind, question]) => [kind, name, question, open] as const)))(
  "the question for %s takes no key that was typed before it or when it appears, in %s",
  async (_kind, _name, { args, prompt, yes, no, event, isProject }, open) => {
    const server = stdioTestServer();
    const home = newHome();
    const [command, ...words] = server.command;
    mkdirSync(path.join(home, "work"));
    const project = path.join(home, "work", ".mcp.json");
    if (isProject) writeFileSync(project, JSON.stringify({ mcpServers: { project: { command, args: words } } }));
    const terminal = open(args(server), { home });
    terminal.press(`${yes}\r`);
    const written = (): boolean => terminal.raw().lastIndexOf(prompt) > 0 && terminal.cursor().line.includes(prompt);
    await terminal.waitFor(written);
    terminal.press(`${yes}\r`);
    await terminal.waitFor(notice);
    await terminal.waitForCursor(prompt);
    expect(eventsOf(server, event)).toEqual([]);
    terminal.press(`${no}\r`);
    await terminal.exit;
    expect(eventsOf(server, event)).toEqual([]);
    expect(existsSync(project)).toBe(isProject === true);
  },
);

test.each(terminals)("Ctrl-C ends a command as soon as its question appears, in %s", async (_, open) => {
  const server = stdioTestServer();
  const terminal = open(["call", "ask_url", ...targetOf(server)]);
  await terminal.waitFor("[c]ancel?");
  terminal.key("ctrl-c");
  await terminal.exit;
  expect(terminal.isCursorVisible()).toBe(true);
  expect(eventsOf(server, "visited")).toEqual([]);
});

test("a paste into a question of a command does not answer it", async () => {
  const server = stdioTestServer();
  const terminal = openDirectly(["call", "ask_url", ...targetOf(server)]);
  await terminal.waitForCursor("[c]ancel?");
  terminal.paste("m\n");
  await terminal.waitFor(/\[c\]ancel\? m$/);
  terminal.key("backspace");
  terminal.press("n\r");
  await terminal.exit;
  expect(eventsOf(server, "visited")).toEqual([]);
});
