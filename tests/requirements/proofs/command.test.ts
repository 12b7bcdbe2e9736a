import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createServer, tool } from "mcparley/server";
import { expect, onTestFinished } from "vitest";
import { runClientCommand } from "../../../packages/cli/src/commands/run.ts";
import { type FakeIo, type FakeOptions, fakeIo, runWith } from "../../../packages/cli/src/commands/testing/fake-io.ts";
import { provesInCommand } from "../proves.ts";

const target = "http://127.0.0.1:1/mcp";
const page = "https://sign.example/in?a=$(id)&b=`id`;c|d";
const link = "\u001b]8;;https://evil.example/\u001b\\click\u001b]8;;\u001b\\";

const server = createServer({
  name: "asking",
  title: "The asking server",
  version: "1.0.0",
  tools: {
    book: tool({
      title: "Book a table",
      call: async (_input, ctx) => {
        const seats = { type: "integer", title: `Seats ${link}`, description: link, minimum: 1 };
        const schema = { type: "object", properties: { seats }, required: ["seats"] };
        return JSON.stringify(await ctx.elicit({ message: `How many? ${link}`, schema }));
      },
    }),
    visit: tool({
      annotations: { title: "Visit a page" },
      call: async (_input, ctx) => {
        await ctx.elicit({ message: "Sign in.", url: page });
        return "visited";
      },
    }),
    lure: tool({
      call: async (_input, ctx) => {
        await ctx.elicit({ message: "Sign in.", url: "https://xn--pple-43d.com/in" });
        return "visited";
      },
    }),
    wait: tool({
      call: (_input, ctx) =>
        new Promise<string>((_resolve, reject) => {
          ctx.progress(1, 2, "waiting");
          ctx.signal.addEventListener("abort", () => reject(new Error("cancelled")));
        }),
    }),
  },
});

function run(words: string, version: string, options: FakeOptions = {}): Promise<{ code: number; io: FakeIo }> {
  return runWith({ server, terminal: true, platform: "linux", ...options }, `${words} --revision ${version}`);
}

/** Opens only the URLs that the user agrees to. Returns the programs that were started for each answer. */
async function launchedAfter(answer: string, version: string): Promise<string[][]> {
  return (await run(`call ${target} visit`, version, { answers: [answer] })).io.launched;
}

provesInCommand("elicitation.shown.server", async (version) => {
  const { io } = await run(`call ${target} book`, version, { answers: ["/decline"], env: { NO_COLOR: "1" } });
  expect(io.err()).toContain('memory:asking ("The asking server") asks in tools/call "book":');
});

provesInCommand("elicitation.shown.review", async (version) => {
  const { io } = await run(`call ${target} book`, version, { answers: ["2", "e", "3", "s"], env: { NO_COLOR: "1" } });
  const shown = io.err();
  expect(shown.indexOf("Your answer:")).toBeLessThan(shown.indexOf("[s]end, [e]dit"));
  expect(shown.match(/Your answer:\n {2}Seats .*: \d/g)).toHaveLength(2);
  expect(JSON.parse(io.out())).toEqual({ seats: 3 });
});

provesInCommand("elicitation.form.rendered-links", async (version) => {
  const { io } = await run(`call ${target} book`, version, { answers: ["/decline"] });
  expect(io.err()).toContain("click");
  expect(io.err()).not.toContain("\u001b]8");
});

provesInCommand("elicitation.url.consent", async (version) => {
  for (const answer of ["n", "c", "^D"]) expect(await launchedAfter(answer, version)).toEqual([]);
  expect(await launchedAfter("y", version)).toHaveLength(1);
});

provesInCommand("elicitation.url.opened-securely", async (version) => {
  // The user's browser is another program, and the command gets nothing back from it.
  const { io } = await run(`call ${target} visit`, version, { answers: ["y"] });
  expect(io.launched.map(([program]) => program)).toEqual(["xdg-open"]);
  expect(io.targets).toMatchObject([{ url: target, headers: {} }]);
});

provesInCommand("elicitation.url.domain", async (version) => {
  const { io } = await run(`call ${target} visit`, version, { answers: ["n"] });
  expect(io.err()).toContain("https://\u001b[7msign.example\u001b[27m/in?");
});

provesInCommand("elicitation.url.warnings", async (version) => {
  const lured = await run(`call ${target} lure`, version, { answers: ["n"] });
  expect(lured.io.err()).toContain("a name with letters that can look like other letters");
  const fine = await run(`call ${target} visit`, version, { answers: ["n"] });
  expect(fine.io.err()).not.toContain("may look like others");
});

provesInCommand("tools.human.sees-tools", async (version) => {
  const { io } = await run(`list ${target} tools`, version, { env: { NO_COLOR: "1" } });
  for (const name of ["book", "visit", "lure", "wait"]) expect(io.out()).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
});

provesInCommand("tools.title.display", async (version) => {
  const { io } = await run(`list ${target} tools`, version, { env: { NO_COLOR: "1" } });
  expect(io.out()).toContain("  book [Book a table]\n");
  expect(io.out()).toContain("  visit [Visit a page]\n");
  expect(io.out()).toMatch(/^ {2}lure$/m);
});

provesInCommand("cancellation.shown", async (version) => {
  const io = fakeIo({ server, terminal: true });
  const done = runClientCommand("call", [target, "wait", "--revision", version], io);
  await io.seen("50%");
  io.pressCtrlC();
  expect(await done).toBe(130);
  expect(io.err()).toContain("Stopping. Press Ctrl-C again to exit immediately.");
});

provesInCommand("security.local.consent", async (version) => {
  const home = mkdtempSync(path.join(tmpdir(), "mcparley-consent-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const cwd = path.join(home, "project");
  mkdirSync(cwd);
  const entry = { command: "npx", args: ["-y", "a-package", "--flag=a b"] };
  writeFileSync(path.join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { notes: entry } }));
  const list = (answers: string[]): Promise<{ code: number; io: FakeIo }> =>
    run("list notes tools", version, { cwd, env: { HOME: home, NO_COLOR: "1" }, answers });
  const refused = await list(["n"]);
  expect(refused.code).toBe(7);
  expect(refused.io.targets).toEqual([]);
  expect(refused.io.err()).toContain("Command       npx -y a-package '--flag=a b'\n");
  const agreed = await list(["y"]);
  expect(agreed.code).toBe(0);
  expect(agreed.io.targets.length).toBe(1);
});
