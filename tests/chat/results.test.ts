import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { say, toolCall } from "./support/model-endpoint.ts";

const longText = Array.from({ length: 1_000 }, (_, index) => `line ${index + 1} ${"x".repeat(40)}`).join("\n");
const allowed = ["--allow", "*"];

test("counts all lines of a long result, and shows and saves the whole of it", async () => {
  const { terminal, send, refused, leave } = await openChat({
    args: allowed,
    script: [say(toolCall("server__echo", { text: longText })), say("Read.")],
  });
  await send("Read it");
  const screen = await terminal.waitFor("Read.");
  expect(screen).toMatch(
    /^ {2}line 12 x+\n {2}\(988 more lines: \/result 1 shows all 1,000 lines\. The model received the first 8 KiB/m,
  );
  expect(screen).not.toContain("line 13 ");
  await send("/result");
  await terminal.waitFor(/^ {2}1 {2}server__echo {2}1,000 lines$/m);
  await send("/result 1");
  await terminal.waitFor(/^line 1000 x+$/m);
  const lines = terminal
    .history()
    .split("\n")
    .filter((line) => /^line \d+ x+$/.test(line));
  expect(lines).toEqual(longText.split("\n"));
  await send("/result 1 out.txt");
  await terminal.waitFor("out.txt (");
  expect(readFileSync(path.join(terminal.cwd, "out.txt"), "utf8")).toBe(longText);
  await send("/result 1 out.txt");
  await refused("out.txt exists, and was not changed.");
  await send("/result 2");
  await refused('There is no result "2".');
  expect(await leave()).toBe(0);
});

test("numbers each result: of a call of the user, structured content, files and errors", async () => {
  const { terminal, send, leave } = await openChat({
    args: allowed,
    script: [say(toolCall("server__add", { a: 1, b: 2 }), toolCall("server__picture")), say("Drawn.")],
  });
  await send("/call echo text=typed");
  await terminal.waitFor(/^typed$/m);
  await send("Add and draw");
  await terminal.waitFor("Drawn.");
  expect(terminal.screen()).toMatch(/^ {2}\[image\/png, 85 bytes\]\n {2}\(\/result \d FILE saves the file\)$/m);
  const picture = Number(/\/result (\d) FILE/.exec(terminal.screen())?.[1]);
  const sum = picture === 2 ? 3 : 2;
  await send(`/result ${sum}`);
  await terminal.waitFor(/^\{"sum":3\}$/m);
  await send(`/result ${picture} a.png`);
  await terminal.waitFor("a.png (85 bytes).");
  expect(readFileSync(path.join(terminal.cwd, "a.png")).subarray(1, 4).toString()).toBe("PNG");
  await send("/result");
  await terminal.waitFor(/server__picture {2}1 line, image\/png, 85 bytes$/m);
  expect(await leave()).toBe(0);
});
