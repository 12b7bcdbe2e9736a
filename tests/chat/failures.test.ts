import { createServer } from "node:http";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { failWith, openModelEndpoint, say, toolCall } from "./support/model-endpoint.ts";
import { rawControls } from "./support/raw-controls.ts";
import { httpTestServer, stdioTestServer } from "./support/test-server.ts";

test("reports a server that dies in a call, and starts it again", async () => {
  const server = stdioTestServer();
  const { terminal, send, idle, requests } = await openChat({
    server,
    args: ["--allow", "die", "--allow", "echo"],
    script: [
      say(toolCall("server__die")),
      say("It has died."),
      say(toolCall("server__echo", { text: "back" })),
      say("It is back."),
    ],
  });
  await send("Die");
  await terminal.waitFor("It has died.");
  expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain("ended with code 7");
  await send("/servers reconnect server");
  await terminal.waitFor(/^server {2}ready/m);
  await idle();
  await send("Echo");
  await terminal.waitFor("It is back.");
  expect(server.events().filter(({ event }) => event === "started")).toHaveLength(2);
  expect(server.events()).toContainEqual({ event: "echo", text: "back" });
});

test("reports a server over HTTP that is killed during a call, and connects to it when it is back", async () => {
  const server = await httpTestServer();
  const name = `local-${new URL(server.url).port}`;
  const { terminal, send, idle } = await openChat({ server });
  await send("/call slow interval:=10");
  await terminal.waitFor(/step \d+ \(Ctrl-C cancels\)$/m);
  await server.kill();
  await idle();
  await server.restart();
  await send(`/servers reconnect ${name}`);
  await terminal.waitFor(new RegExp(`^${name} {2}ready`, "m"));
  await idle();
  await send("/call echo text=again");
  await terminal.waitFor(/^again$/m);
});

test("shows why a server does not start, and continues with the others", async () => {
  const http = await httpTestServer();
  const broken = "console.error('No database at 10.0.0.1'); process.exit(3)";
  const { terminal, send } = await openChat({
    server: null,
    args: [http.url, "--", process.execPath, "-e", broken],
    waits: false,
  });
  await terminal.waitFor(/^node failed: /m);
  await terminal.waitFor("No database at 10.0.0.1");
  await terminal.waitFor("1 of 2 servers connected");
  await send("/servers");
  // It is started again from time to time.
  await terminal.waitFor(/^node {2}(?:failed|connecting)/m);
  await send("/call echo text=works");
  await terminal.waitFor(/^works$/m);
});

test("can be used while a server does not answer, and leaves it at the end", async () => {
  const { terminal, send, leave } = await openChat({
    server: null,
    args: ["--", process.execPath, "-e", "process.stdin.resume()"],
    waits: false,
    script: [say("Hello.")],
  });
  await terminal.waitFor("0 of 1 servers connected");
  await send("/servers");
  await terminal.waitFor(/^node {2}connecting/m);
  await send("Hi");
  await terminal.waitFor("Hello.");
  expect(await leave()).toBe(0);
});

test("distinguishes the tools of two servers with the same names", async () => {
  const [one, other] = [await httpTestServer(), await httpTestServer()];
  const names = [one, other].map(({ url }) => `local-${new URL(url).port}`);
  const { terminal, requests, send, refused } = await openChat({
    server: null,
    args: [one.url, other.url],
    script: [say("I see both.")],
  });
  await terminal.waitFor("2 of 2 servers connected");
  await send("/call echo text=which");
  const screen = await refused('Several servers have a tool "echo".');
  for (const name of names) expect(screen).toContain(`${name}__echo`);
  await send(`/call ${names[1]}__echo text=other`);
  await terminal.waitFor(/^other$/m);
  await send("Which tools?");
  await terminal.waitFor("I see both.");
  expect(requests[0]?.tools).toEqual(expect.arrayContaining(names.map((name) => `${name}__echo`)));
  expect(one.events().map(({ event }) => event)).not.toContain("echo");
  expect(other.events()).toContainEqual({ event: "echo", text: "other" });
});

/** Returns the base URL of an endpoint that answers each request with a page. */
async function htmlEndpoint(status: number): Promise<string> {
  const server = createServer((_, response) => {
    response
      .writeHead(status, { "content-type": "text/html" })
      .end("<!doctype html><h1>Welcome to nginx\u001b[31m!</h1>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`;
}

const failingEndpoint = async (status: number): Promise<string> =>
  (await openModelEndpoint(() => failWith(status, "Not now."))).url;

const closedPort = async (): Promise<string> => {
  const url = await htmlEndpoint(200);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return url.replace(/:\d+/, `:${typeof address === "object" ? address?.port : ""}`);
};

test.each([
  ["is down", closedPort, /^A model endpoint is not running at http/m],
  ["answers with a page", () => htmlEndpoint(200), /answered with a web page \(HTTP status 200\)[\s\S]*--base-url/],
  ["has another path", () => htmlEndpoint(404), /answered with a web page \(HTTP status 404\)/],
  ["requires a key", () => failingEndpoint(401), /requires a key \(HTTP status 401\)[\s\S]*--api-key-env/],
  ["is limited", () => failingEndpoint(429), /limits the requests \(HTTP status 429\): Not now\./],
  ["fails", () => failingEndpoint(500), /HTTP status 500[\s\S]*Not now\./],
])("reports an endpoint that %s, and offers the input again", async (_, open, reason) => {
  const { terminal, send, idle, leave } = await openChat({ args: ["--model", "small", "--base-url", await open()] });
  await send("Hello");
  await terminal.waitFor(reason);
  // The message is not in the conversation, and can be sent again.
  await terminal.waitForCursor(/^> Hello/);
  terminal.key("ctrl-c");
  await idle();
  await send("/roots");
  await terminal.waitFor("No folder is shared");
  expect(await leave()).toBe(0);
  expect(rawControls(terminal.raw())).toEqual([]);
});
