import { pathToFileURL } from "node:url";
import { connect } from "mcparley/client";
import { expect, onTestFinished, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { say, toolCall } from "./support/model-endpoint.ts";
import { type HttpTestServer, type StdioTestServer, httpTestServer, stdioTestServer } from "./support/test-server.ts";

const servers: readonly (readonly [string, () => StdioTestServer | Promise<HttpTestServer>])[] = [
  ["stdio, 2026-07-28", () => stdioTestServer({ revision: "2026-07-28" })],
  ["stdio, 2025-11-25", () => stdioTestServer({ revision: "2025-11-25" })],
  ["HTTP, 2026-07-28", () => httpTestServer({ revision: "2026-07-28" })],
  ["HTTP, 2025-11-25", () => httpTestServer({ revision: "2025-11-25" })],
];

/** One server of each kind of revision and of each transport. */
const twoServers = [0, 3].flatMap((index) => servers.slice(index, index + 1));

/** Returns the events of a server with a name. */
function eventsOf(server: StdioTestServer | HttpTestServer, name: string): unknown[] {
  return server.events().filter(({ event }) => event === name);
}

test.each(servers)("asks for each kind of field, and refuses invalid values, over %s", async (_, open) => {
  const server = await open();
  const { terminal, send, answer } = await openChat({ server, rows: 70 });
  await send("/call ask_form");
  await terminal.waitFor("asks you to fill in a form");
  expect(terminal.screen()).toContain("  │ Which table do you want?");
  // The status is on the screen until the first field appears.
  expect(terminal.raw()).toContain("ask_form: waits for your answer (form) (Ctrl-C cancels)");
  await terminal.waitFor("1 of 5: Name (text, at least 2 characters, required)");
  await answer(">", "A");
  await terminal.waitFor("must have at least 2 characters; this has 1.");
  await answer(">", "Ada");
  await terminal.waitFor("2 of 5: Guests");
  await answer("[Enter: 2] >", "13");
  await terminal.waitFor(/must be .*12/);
  await answer("[Enter: 2] >", "many");
  await answer("[Enter: 2] >", "3");
  await terminal.waitFor("3 of 5: At a window");
  await answer("[Enter: skip] >", "perhaps");
  await answer("[Enter: skip] >", "yes");
  await terminal.waitFor("4 of 5: Meal");
  expect(terminal.screen()).toContain("1. Vegetarian (veg)");
  await answer(">", "meat");
  await answer(">", "1");
  await terminal.waitFor("5 of 5: Extras");
  await answer("[Enter: skip] >", "1,2");
  await terminal.waitFor("Your answer:");
  expect(terminal.screen()).toContain("  Extras: Bread, Wine");
  expect(eventsOf(server, "answered")).toEqual([]);
  await answer("[c]ancel?", "s");
  await terminal.waitFor("booked {");
  expect(eventsOf(server, "answered")).toEqual([
    {
      event: "answered",
      answer: { name: "Ada", guests: 3, window: true, meal: "veg", extras: ["bread", "wine"] },
    },
  ]);
});

test("edits an answer before it is sent, with the values as defaults", async () => {
  const server = stdioTestServer();
  const { terminal, send, answer } = await openChat({ server, rows: 70 });
  await send("/call ask_form");
  await terminal.waitFor("1 of 5");
  await answer(">", "Ada");
  for (const field of ["2 of 5", "3 of 5"]) {
    await terminal.waitFor(field);
    await terminal.waitForCursor(/\[Enter:/);
    terminal.key("enter");
  }
  await terminal.waitFor("4 of 5");
  await answer(">", "fish");
  await terminal.waitFor("5 of 5");
  await terminal.waitForCursor(/\[Enter: skip\]/);
  terminal.key("enter");
  await answer("[c]ancel?", "e");
  await answer("[Enter: Ada] >", "Grace");
  await answer("[Enter: 2] >", "2");
  await answer("[Enter: skip] >", "no");
  await answer("[Enter: Fish] >", "1");
  await answer("[Enter: skip] >", "2");
  await answer("[c]ancel?", "s");
  await terminal.waitFor("booked {");
  expect(eventsOf(server, "answered")).toEqual([
    { event: "answered", answer: { name: "Grace", guests: 2, window: false, meal: "veg", extras: ["wine"] } },
  ]);
});

test.each([
  ["/decline", "The user declined the request."],
  ["/cancel", "The user dismissed the request without an answer."],
])("takes %s in place of an answer", async (word, outcome) => {
  const server = stdioTestServer();
  const { terminal, send, answer } = await openChat({ server });
  await send("/call ask_form");
  await terminal.waitFor("1 of 5");
  await answer(">", word);
  await terminal.waitFor(outcome);
  expect(eventsOf(server, "answered")).toEqual([]);
});

test.each(twoServers)("shows the URL and its host before it is opened, over %s", async (_, open) => {
  const server = await open();
  const { terminal, send, answer } = await openChat({ server });
  await send("/call ask_url");
  await terminal.waitFor("asks you to open a page in your browser");
  await terminal.waitFor("[c]ancel?");
  const screen = terminal.screen();
  expect(screen).toContain("  │ Connect your account.");
  expect(screen).toContain("https://accounts.example/connect?visit=1");
  expect(screen).toContain("Its host is accounts.example");
  await answer("[c]ancel?", "n");
  await terminal.waitFor("The user declined the request.");
  await send("/call ask_url");
  await answer("[c]ancel?", "m");
  await terminal.waitFor("the user has agreed to open the page");
  expect(eventsOf(server, "visited")).toHaveLength(1);
});

test.each(twoServers)("lists the roots over %s", async (_, open) => {
  const server = await open();
  // The URI of a folder for temporary files can be long.
  const { terminal, send } = await openChat({ server, args: ["--root", "."], columns: 300 });
  await send("/call list_roots");
  await terminal.waitFor(`work: ${pathToFileURL(terminal.cwd).href}`);
});

test("asks during a call of the model, after the approval", async () => {
  const server = stdioTestServer();
  const { terminal, requests, send, answer } = await openChat({
    server,
    script: [say(toolCall("server__ask_url")), say("You are connected.")],
  });
  await send("Connect me");
  await answer("[v]iew?", "y");
  await answer("[c]ancel?", "m");
  await terminal.waitFor("You are connected.");
  expect(JSON.stringify(requests[1]?.messages)).toContain("has agreed to open the page");
});

test("asks a question again after a text that is no answer", async () => {
  const server = stdioTestServer();
  const { terminal, send, answer } = await openChat({ server });
  await send("/call ask_url");
  await answer("[c]ancel?", "perhaps later");
  await answer("[c]ancel?", "c");
  await terminal.waitFor("The user dismissed the request without an answer.");
  expect(eventsOf(server, "visited")).toEqual([]);
});

test("waits with a question until a text that the user types is sent or deleted", async () => {
  const server = await httpTestServer();
  const { terminal, idle, answer } = await openChat({ server });
  const other = await connect(server.url);
  onTestFinished(() => other.close());
  await idle();
  await terminal.type("y");
  await terminal.waitFor("> y");
  await other.callTool("change_tools");
  await terminal.waitFor("A server has a question. Send or delete your text to see it.");
  expect(terminal.screen()).not.toContain('The tool "echo"');
  await terminal.type("es");
  await terminal.waitFor("> yes");
  terminal.key("ctrl-u");
  await terminal.waitFor(/The tool "echo" has changed/);
  await terminal.waitFor(/\? *$/);
  await answer("?", "n");
});
