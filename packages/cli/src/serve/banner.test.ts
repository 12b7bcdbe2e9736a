import { expect, test } from "vitest";
import { styleFor } from "../terminal/text.ts";
import { type BannerInput, banner, clientSetups, commandName, tryLine } from "./banner.ts";
import { serveFiles } from "./testing/served-folder.ts";

const url = "http://127.0.0.1:3333/mcp";
const plain = styleFor(false, {});

async function shown(files: Record<string, string>, more: Partial<BannerInput> = {}): Promise<string> {
  const { live } = await serveFiles(files);
  return banner({ url, contents: live.contents, problems: 0, watching: ".", command: "mcparley", ...more }, plain);
}

test("the banner shows the URL, the contents, the client setups and a command, in 80 columns without colours", async () => {
  const prompts = Array.from({ length: 40 }, (_, index) => [`prompts/prompt_number_${index}.md`, "x"]);
  const text = await shown({
    ...Object.fromEntries(prompts),
    "resources/a.md": "a",
    "server.yaml": "title: The Books",
  });
  expect(text).toMatch(/^test 0\.0\.0 \(The Books\) is served at\n\n {2}http:\/\/127\.0\.0\.1:3333\/mcp\n/);
  expect(text).toMatch(/40 prompts {2}prompt_number_0, /);
  expect(text).toMatch(/and \d+ more$/m);
  expect(text).toMatch(/^ {2}0 tools$/m);
  expect(text).toMatch(/^ {2}1 resource +a\.md$/m);
  for (const client of ["Claude Code", "VS Code", "Cursor", "Zed", "Codex", "Gemini CLI"])
    expect(text).toContain(client);
  expect(text).toContain(`mcparley list ${url}`);
  const lines = text.split("\n");
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.filter((line) => line !== line.trimEnd())).toEqual([]);
  expect(text).not.toContain("\u001b");
});

test("the banner has colours only on a terminal without NO_COLOR", async () => {
  const { live } = await serveFiles({ "prompts/a.md": "a" });
  const input = { url, contents: live.contents, problems: 0, watching: undefined, command: "mcparley" };
  expect(banner(input, styleFor(true, {}))).toContain("\u001b[1m");
  expect(banner(input, styleFor(true, { NO_COLOR: "1" }))).not.toContain("\u001b");
});

test("the banner has the number of worker processes", async () => {
  expect(await shown({}, { workers: 1 })).toContain(`\n  ${url}\n  in 1 worker process\n`);
  expect(await shown({}, { workers: 2 })).toContain(`\n  ${url}\n  in 2 worker processes\n`);
  expect(await shown({})).not.toContain("worker");
});

test("the banner counts the problems", async () => {
  expect(await shown({}, { problems: 1 })).toContain("1 problem in the folder");
  expect(await shown({}, { problems: 2 })).toContain("2 problems in the folder");
});

test("each client setup has the format of the client", () => {
  const lines = Object.fromEntries(
    clientSetups("My books", url).map(({ client, lines }) => [client, lines.join("\n")]),
  );
  expect(lines["Claude Code"]).toBe(`claude mcp add --transport http My-books ${url}`);
  expect(JSON.parse(lines["VS Code"] ?? "")).toEqual({ servers: { "My-books": { type: "http", url } } });
  expect(JSON.parse(lines["Cursor"] ?? "")).toEqual({ mcpServers: { "My-books": { url } } });
  expect(JSON.parse(`{${lines["Zed"]}}`)).toEqual({ context_servers: { "My-books": { url } } });
  expect(lines["Codex"]).toBe(`[mcp_servers.My-books]\nurl = "${url}"`);
  expect(lines["Gemini CLI"]).toBe(`gemini mcp add --transport http My-books ${url}`);
});

test("the command to try calls a read-only tool with the examples of its schema", async () => {
  const tool = (name: string, readOnly: boolean, examples: string) =>
    `import { tool } from "mcparley/server";\nexport const ${name} = tool({ annotations: { readOnlyHint: ${readOnly} }, input: { type: "object", properties: { q: { type: "string", examples: ${examples} } }, required: ["q"] }, call: () => "" });\n`;
  const lineFor = async (files: Record<string, string>) =>
    tryLine((await serveFiles(files)).live.contents, url, "mcparley");
  expect(
    await lineFor({ "tools/x.ts": tool("a", false, '["x"]') + tool("b", true, '["who is it?"]').split("\n")[1] }),
  ).toBe(`mcparley call ${url} b q="who is it?"`);
  expect(await lineFor({ "tools/x.ts": tool("a", true, '["$(rm -rf /)"]') })).toBe(`mcparley list ${url}`);
  expect(await lineFor({ "tools/x.ts": tool("a", true, "[]") })).toBe(`mcparley list ${url}`);
});

test("the name of the command is the one that started it", () => {
  expect(commandName({})).toBe("mcparley");
  expect(commandName({ npm_command: "exec", npm_lifecycle_event: "npx" })).toBe("npx @mcparley/cli");
  expect(commandName({ npm_command: "start", npm_lifecycle_event: "start" })).toBe("npm run mcparley --");
});

test("the banner of an empty folder has no setups of clients, so that the problem is visible", async () => {
  const text = await shown({ "notes.txt": "x" }, { problems: 1 });
  expect(text).toContain("It offers nothing yet.");
  expect(text).toContain("1 problem in the folder");
  expect(text).not.toContain("Claude Code");
  expect(text).not.toContain("Try it now");
  expect(text.split("\n").length).toBeLessThan(12);
});
