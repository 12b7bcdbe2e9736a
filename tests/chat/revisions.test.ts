import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { newHome } from "./support/terminal.ts";
import { stdioTestServer } from "./support/test-server.ts";

const cure = "/servers revision server 2025-11-25";

test("hints at an earlier revision, changes it for one server, and remembers it in later chats", async () => {
  const server = stdioTestServer({ hasLegacyQuestions: true });
  const home = newHome();
  const first = await openChat({ server, home });
  await first.send("/call ask_legacy");
  await first.terminal.waitFor("elicitation is not supported");
  await first.terminal.waitFor(cure);
  await first.send(cure);
  await first.terminal.waitFor("revision 2025-11-25");
  // The definition of a tool depends on the revision.
  await first.answer("[v]iew?", "y");
  expect(first.terminal.history()).not.toMatch(/has changed: (new|removed): server__echo/);
  await first.send("/call ask_legacy");
  await first.terminal.waitFor("asked the user");
  await first.leave();
  const second = await openChat({ server, home });
  await second.send("/call ask_legacy");
  await second.terminal.waitFor("asked the user");
  await second.send("/servers revision server auto");
  await second.terminal.waitFor("revision 2026-07-28");
  await second.answer("[v]iew?", "y");
  await second.leave();
  const third = await openChat({ server, home });
  await third.send("/servers");
  await third.terminal.waitFor("revision 2026-07-28");
  expect(await third.leave()).toBe(0);
});

test("uses the revision of a configuration", async () => {
  const { command } = stdioTestServer({ hasLegacyQuestions: true });
  const [program, ...args] = command;
  const home = newHome();
  const cwd = path.join(home, "work");
  mkdirSync(cwd);
  const entry = { command: program, args, revision: "2025-11-25" };
  writeFileSync(path.join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { asker: entry } }));
  const { terminal, send, leave } = await openChat({ server: null, home, args: ["--trust"] });
  await send("/call ask_legacy");
  await terminal.waitFor("asked the user");
  expect(await leave()).toBe(0);
});
