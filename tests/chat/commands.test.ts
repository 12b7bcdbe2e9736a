import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { isRunning } from "./support/process-tree.mjs";
import { rawControls } from "./support/raw-controls.ts";
import { say } from "./support/model-endpoint.ts";
import { stdioTestServer } from "./support/test-server.ts";

test("shows the servers, turns one off and on, and connects it again", async () => {
  const server = stdioTestServer();
  const { terminal, send, idle } = await openChat({ server });
  const started = (): number[] =>
    server.events().flatMap(({ event, pid }) => (event === "started" ? [Number(pid)] : []));
  const running = (): number[] => started().filter(isRunning);
  const shown = (state: string): number =>
    terminal
      .history()
      .split("\n")
      .filter((line) => line.startsWith(state)).length;
  await send("/servers");
  await terminal.waitFor(/^server {2}ready {2}test-server 1\.0\.0, revision 2026-07-28$/m);
  await terminal.waitFor(/^ {2}16 tools, 3 prompts, 5 resources, 1 template$/m);
  // The tools are listed when they are accepted.
  await send("/tools server__echo");
  await terminal.waitFor('"name": "server__echo"');
  await send("/servers off server");
  await terminal.waitFor(/^server {2}off/m);
  await terminal.waitFor("0 of 1 servers connected");
  await send("/tools");
  await terminal.waitFor("The servers offer none. /servers shows their state.");
  await expect.poll(() => running()).toEqual([]);
  await send("/servers on server");
  await terminal.waitFor(() => shown("server  ready") === 2);
  await send("/servers reconnect server");
  await terminal.waitFor(() => shown("server  ready") === 3);
  await idle();
  expect(started()).toHaveLength(3);
  await expect.poll(() => running()).toEqual([started().at(-1)]);
});

test("names the action, the server, the tool or the command that was meant", async () => {
  const { send, refused } = await openChat();
  await send("/servers reconect server");
  expect(await refused('There is no action "reconect".')).toContain('Did you mean "reconnect"?');
  await send("/servers off sever");
  expect(await refused('There is no server "sever".')).toContain('Did you mean "server"?');
  await send("/servers off");
  expect(await refused("/servers off needs the name of one server.")).toContain("Such as /servers off server");
  await send("/halp");
  expect(await refused("There is no command or prompt /halp.")).toContain('Did you mean "/help"?');
  await send("/call server__ecko");
  expect(await refused('There is no tool "server__ecko".')).toContain('Did you mean "server__echo"?');
  await send("/server:pain");
  expect(await refused("There is no command or prompt /server:pain.")).toContain('Did you mean "/server:plain"?');
});

test("shows the help, the tools, a definition, the prompts and the resources", async () => {
  const { terminal, send } = await openChat({ rows: 80 });
  await send("/help");
  await terminal.waitFor("leave, or close a question");
  for (const name of ["servers", "tools", "call", "resources", "prompts", "attached", "detach", "roots", "why"]) {
    expect(terminal.screen()).toMatch(new RegExp(`^/${name}\\b`, "m"));
  }
  await send("/tools");
  await terminal.waitFor("server__list_roots");
  expect(terminal.history()).toContain("Deletes all files of a folder.");
  await send("/tools server__add");
  await terminal.waitFor("Server server. The definition for the model:");
  await terminal.waitFor('"name": "server__add"');
  await send("/prompts");
  await terminal.waitFor("/server:review");
  await send("/resources");
  await terminal.waitFor("@server:note://{year}/{month}");
  expect(terminal.screen()).toContain("@<server:note://with space>");
  expect(rawControls(terminal.raw())).toEqual([]);
});

test("calls a tool with arguments in each form, and shows the result as a model receives it", async () => {
  const { terminal, send, answer } = await openChat();
  await send('/call echo text="two words"');
  await terminal.waitFor(/^two words$/m);
  await send('/call server:add {"a": 1, "b": 2}');
  await terminal.waitFor('{"sum":3}');
  await send("/call server__add");
  await answer("a (number, required):", "3");
  await answer("b (number, required):", "4");
  await terminal.waitFor('{"sum":7}');
  await send("/call add a:=20 b=22");
  await terminal.waitFor('{"sum":42}');
});

test("asks for a destructive tool that the user has composed", async () => {
  const { terminal, send, answer } = await openChat();
  await send("/call delete_all folder=/data");
  await answer("[v]iew?", "n");
  await terminal.waitFor("denied");
  expect(terminal.screen()).toContain('You asked to call the tool "delete_all" of the server "server".');
  expect(terminal.screen()).toContain("can delete or overwrite (not verified)");
  expect(terminal.screen()).not.toContain("Deleted all");
});

test("attaches a resource, shows it in /attached, and detaches it", async () => {
  const { terminal, send, refused } = await openChat();
  await send("/attached");
  await terminal.waitFor("No resource is attached.");
  await send("Read @server:note://today, please");
  await terminal.waitFor("Buy milk today.");
  await send("/attached");
  await terminal.waitFor(/^@server:note:\/\/today {2}\S/m);
  await send("/detach @server:note://today");
  await terminal.waitFor("Detached. Its content stays in the conversation.");
  await send("/detach @server:note://today");
  await refused("@server:note://today is not attached.");
});

test("changes the folders that a server can list", async () => {
  // The URI of a folder for temporary files can be long.
  const { terminal, send } = await openChat({ columns: 300 });
  await send("/roots");
  await terminal.waitFor("No folder is shared with servers. Add one: /roots add DIR");
  await send("/roots add .");
  await terminal.waitFor(`work  ${pathToFileURL(terminal.cwd).href}`);
  await send("/call list_roots");
  await terminal.waitFor(`work: ${pathToFileURL(terminal.cwd).href}`);
  await send("/roots remove .");
  await terminal.waitFor(() => terminal.screen().match(/No folder is shared/g)?.length === 2);
  await send("/roots add missing");
  await terminal.waitFor("missing does not exist.");
});

test("explains what the model was sent", async () => {
  const { terminal, send, refused } = await openChat({ script: [say("Good day.")], args: ["--system", "Be brief."] });
  await send("/why");
  await refused("Nothing was sent to the model yet.");
  await send("Hello there");
  await terminal.waitFor("100 tokens in, 20 out");
  await send("/why");
  await terminal.waitFor(/^ +total +~\d+$/m);
  expect(terminal.screen()).toMatch(/^ +1 {2}system +~\d+ {2}.*Be brief\./m);
  expect(terminal.screen()).toMatch(/^ +2 {2}user +~\d+ {2}Hello there$/m);
  expect(terminal.screen()).toMatch(/^ +tools +~\d+ {2}\d+ definitions$/m);
  await send("/why tools");
  await terminal.waitFor(/^ +~\d+ {2}server__ask_form$/m);
  await send("/why 2");
  await terminal.waitFor(/^Hello there$/m);
  await send("/why 9");
  await terminal.waitFor('The request has no part "9".');
});

test("saves the conversation in both forms, starts a new one, and quits", async () => {
  const { terminal, send, refused } = await openChat({ script: [say("Good day.")] });
  await send("Hello there");
  await terminal.waitFor("100 tokens in");
  await send("/save chat.md");
  await terminal.waitFor("chat.md");
  await send("/save chat.json");
  await send("/save chat.md");
  await refused("--overwrite");
  await send("/new");
  await terminal.waitFor("A new conversation.");
  await send("/quit");
  expect(await terminal.exit).toEqual({ code: 0, signal: undefined });
  const file = path.join(terminal.cwd, "chat.md");
  expect(readFileSync(file, "utf8")).toMatch(/Hello there[\s\S]*Good day\./);
  expect(JSON.parse(readFileSync(path.join(terminal.cwd, "chat.json"), "utf8"))).toBeInstanceOf(Object);
  // The new conversation is empty, so there is none to continue.
  expect(terminal.screen()).not.toContain("--resume");
});

test("keeps a command that failed in the history, and not in the input", async () => {
  const server = stdioTestServer();
  const { terminal, send, idle, leave } = await openChat({ server });
  await send("/call echo texd=a");
  await terminal.waitFor('has no argument "texd"');
  await send("/call echo text=second");
  await terminal.waitFor(/^second$/m);
  await idle();
  terminal.key("up");
  await terminal.waitForCursor(/^> \/call echo text=second$/);
  terminal.key("up");
  await terminal.waitForCursor(/^> \/call echo texd=a$/);
  terminal.key("ctrl-c");
  expect(await leave()).toBe(0);
});

test("finds a tool by each of its names, and reads JSON in arguments as JSON", async () => {
  const { terminal, send, leave } = await openChat({ args: ["--allow", "server__echo", "--allow", "server:ecko"] });
  await terminal.waitFor('--allow "server:ecko" matches no tool. Did you mean "server:echo"?');
  expect(terminal.screen()).not.toContain('"server__echo" matches');
  for (const name of ["server:echo", "server__echo", "server/echo", "echo"]) {
    await send(`/call ${name} text:="by ${name}"`);
    await terminal.waitFor(new RegExp(`^by ${name}$`, "m"));
  }
  await send("/tools server:echo");
  await terminal.waitFor("The definition for the model:");
  await send('/call task note={"a":"b c"} steps:=1');
  await terminal.waitFor('The tool "task" has no argument "note".');
  await send('/call echo text={"a":"it\'s b"}');
  await terminal.waitFor(/^\{"a":"it's b"\}$/m);
  expect(await leave()).toBe(0);
});
