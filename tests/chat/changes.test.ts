import { expect, test } from "vitest";
import { openChat, targetOf } from "./support/chat.ts";
import { openModelEndpoint, say } from "./support/model-endpoint.ts";
import { newHome, openTerminal } from "./support/terminal.ts";
import { stdioTestServer } from "./support/test-server.ts";

test("reports no change after a run without a terminal, and after a server was off", async () => {
  const server = stdioTestServer();
  const home = newHome();
  const first = await openChat({ server, home });
  await first.leave();
  const endpoint = await openModelEndpoint([say("Done.")]);
  const run = openTerminal({
    home,
    args: ["chat", "--model", "small", "--base-url", endpoint.url, "--no-input", "-p", "Hi", ...targetOf(server)],
  });
  await run.exit;
  expect(run.screen()).toContain("Done.");
  const second = await openChat({ server, home });
  await second.send("/servers off server");
  await second.terminal.waitFor(/^server {2}off/m);
  await second.send("/servers on server");
  await second.terminal.waitFor(/^server {2}ready/m);
  await second.send("/call echo text=again");
  await second.terminal.waitFor(/^again$/m);
  expect(second.terminal.history()).not.toContain("has changed");
  expect(second.terminal.history()).not.toContain("definitions that you have not accepted");
  expect(await second.leave()).toBe(0);
});
