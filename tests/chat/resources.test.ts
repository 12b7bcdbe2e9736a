import { expect, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { say } from "./support/model-endpoint.ts";
import { httpTestServer, stdioTestServer } from "./support/test-server.ts";

test("picks a resource after @, and sends its content once", async () => {
  const server = stdioTestServer();
  const { terminal, requests, send } = await openChat({ server, script: [say("Milk."), say("Yes, milk.")] });
  await terminal.type("What must I buy? @tod");
  await terminal.waitFor(/^\* server:note:\/\/today +The note of today$/m);
  terminal.key("enter");
  await terminal.waitFor("> What must I buy? @server:note://today");
  terminal.key("enter");
  await terminal.waitFor(/^Milk\.$/m);
  await send("Is that all in @server:note://today?");
  await terminal.waitFor("Yes, milk.");
  const sent = JSON.stringify(requests[1]?.messages);
  expect(sent.match(/Buy milk today\./g)).toHaveLength(1);
  expect(server.events().filter(({ event }) => event === "read")).toEqual([{ event: "read", uri: "note://today" }]);
});

test("picks a URI with spaces", async () => {
  const { terminal } = await openChat();
  await terminal.type("Read @space");
  await terminal.waitFor(/^\* server:note:\/\/with space/m);
  terminal.key("tab");
  await terminal.waitFor("> Read @<server:note://with space>");
  terminal.key("enter");
  await terminal.waitFor("A note whose URI has a space.");
});

test("asks for the variables of a template, with completions that depend on each other", async () => {
  const { terminal, requests } = await openChat({ script: [say("Read.")] });
  await terminal.type("Read @mon");
  await terminal.waitFor(/^\* server:note:\/\/\{year\}\/\{month\}/m);
  terminal.key("enter");
  await terminal.waitFor("> Read @server:note://{year}/{month}");
  terminal.key("enter");
  await terminal.waitFor(/^ {2}2024$/m);
  expect(terminal.screen()).toContain("Variables of server:note://{year}/{month}");
  await terminal.waitForCursor(/year \(required\):/);
  await terminal.type("2025");
  terminal.key("enter");
  await terminal.waitFor("month (required):");
  await terminal.waitFor(/^ {2}03$/m);
  expect(terminal.screen()).not.toMatch(/^ {2}(?:11|07)$/m);
  await terminal.waitForCursor(/month \(required\):/);
  terminal.key("down");
  terminal.key("down");
  await terminal.waitFor(/^\* 02$/m);
  terminal.key("enter");
  await terminal.waitFor("month (required): 02");
  terminal.key("enter");
  await terminal.waitFor(/^Read\.$/m);
  expect(terminal.screen()).toContain("Attached: @server:note://2025/02");
  expect(JSON.stringify(requests[0]?.messages)).toContain("The notes of 02/2025.");
  // The model receives the URI and not the template.
  const content = expect.stringMatching(/\n\nRead @server:note:\/\/2025\/02$/) as string;
  expect(requests[0]?.messages.at(-1)).toMatchObject({ content });
});

test("cancels a template with Ctrl-C, and sends nothing", async () => {
  const { terminal, requests, send } = await openChat({ script: [] });
  await send("Read @server:note://{year}/{month}");
  await terminal.waitFor("year (required):");
  terminal.key("ctrl-c");
  await terminal.waitFor("Cancelled.");
  expect(requests).toEqual([]);
});

test("reports a resource that does not exist, and keeps the text", async () => {
  const { send, refused } = await openChat();
  await send("Read @server:note://missing now");
  expect(await refused(/not found/i)).toMatch(/> Read @server:note:\/\/missing now$/);
});

test("leaves a word without a known server as it is", async () => {
  const { terminal, requests, send } = await openChat({ script: [say("Hello.")] });
  await send("Mail to ada@example.com or @nobody:note://x");
  await terminal.waitFor("Hello.");
  expect(requests[0]?.messages.at(-1)).toEqual({
    role: "user",
    content: "Mail to ada@example.com or @nobody:note://x",
  });
});

test.each([
  ["stdio, 2026-07-28", () => stdioTestServer({ revision: "2026-07-28" })],
  ["HTTP, 2025-11-25", () => httpTestServer({ revision: "2025-11-25" })],
])("sends the new content of an attached resource with the next message, over %s", async (_, openServer) => {
  const server = await openServer();
  const name = "url" in server ? `local-${new URL(server.url).port}` : "server";
  const { terminal, requests, send } = await openChat({ server, script: [say("One."), say("Two."), say("Three.")] });
  await send(`See @${name}:counter://value`);
  await terminal.waitFor(/^One\.$/m);
  await send("/attached");
  await terminal.waitFor("follows its changes");
  await send(`/call ${name}__count`);
  await terminal.waitFor(`${name}:counter://value has changed. Its new content is sent with the next message.`);
  await send("And now?");
  await terminal.waitFor(/^Two\.$/m);
  expect(JSON.stringify(requests[0]?.messages)).toContain("The counter is 0.");
  expect(JSON.stringify(requests[1]?.messages)).toContain("The counter is 1.");
  await send(`/detach @${name}:counter://value`);
  await terminal.waitFor("Detached.");
  await send(`/call ${name}__count`);
  await terminal.waitFor("the counter is 2");
  await send("And at last?");
  await terminal.waitFor(/^Three\.$/m);
  expect(JSON.stringify(requests[2]?.messages)).not.toContain("The counter is 2.");
});
