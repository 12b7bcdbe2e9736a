import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Problem, formatProblem } from "../yaml/problem.ts";
import { type ServerSettings, readSettings } from "./server-settings.ts";
import { serveFiles } from "../testing/served-folder.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

async function settingsOf(
  yaml: string | undefined,
  files: Record<string, string> = {},
): Promise<[ServerSettings, string[]]> {
  const folder = await temporaryFolder({
    "handbook/x": "",
    ...files,
    ...(yaml !== undefined && { "handbook/server.yaml": yaml }),
  });
  const problems: Problem[] = [];
  const settings = await readSettings(join(folder, "handbook"), (problem) => problems.push(problem));
  return [settings, problems.map((problem) => formatProblem(problem))];
}

test("uses the folder's name and the default limits without a file", async () => {
  const [settings, problems] = await settingsOf(undefined);
  expect(settings).toEqual({
    info: { name: "handbook", version: "0.0.0" },
    limits: {},
    fileSize: 16 * 1024 ** 2,
    files: 10_000,
    rateLimit: {},
    roots: [],
  });
  expect(problems).toEqual([]);
});

test("reads every setting", async () => {
  const yaml = [
    "name: books",
    "version: 1.10",
    "title: Books",
    "description: All of them.",
    "websiteUrl: https://example.com/books",
    "instructions: |",
    "  Read.",
    "icons: [{src: 'data:image/png;base64,AA==', theme: dark}]",
    "limits: {fileSize: 2 MiB, files: 5, pageSize: 10, askTimeout: 2m, stateTtl: 90}",
    "rateLimit: {perSecond: 2, burst: 3}",
    "roots: [{name: more, path: ../more}]",
  ].join("\n");
  const [settings, problems] = await settingsOf(yaml, { "handbook/resources/a": "", "more/b": "" });
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({
    info: {
      name: "books",
      version: "1.10",
      title: "Books",
      description: "All of them.",
      websiteUrl: "https://example.com/books",
      instructions: "Read.\n",
      icons: [{ src: "data:image/png;base64,AA==", theme: "dark" }],
    },
    limits: { pageSize: 10, askTimeout: 120_000, stateTtl: 90_000 },
    fileSize: 2 * 1024 ** 2,
    files: 5,
    rateLimit: { perSecond: 2, burst: 3 },
    roots: [{ name: "resources" }, { name: "more" }],
  });
});

describe("reports an invalid setting with its line, and uses the other settings", () => {
  test.each([
    ["verson: 1\nname: a", 'server.yaml:1:1: unknown key "verson" — Did you mean "version"?'],
    ["name: a\nlimits:\n  pagesize: 3", 'server.yaml:3:3: unknown key "limits.pagesize" — Did you mean "pageSize"?'],
    ["name: a\nlimits: {depth: 0}", '"limits.depth" must be a number of at least 1'],
    ["name: a\nlimits: {fileSize: big}", '"limits.fileSize" must be a size above zero, not "big" — Write it as 1 MiB.'],
    ["name: a\nrateLimit: fast", '"rateLimit" must be true or false'],
    ["name: a\nwebsiteUrl: javascript:alert(1)", '"javascript:alert(1)" is not a web address'],
    ["name: a\nversion: ''", '"version" is empty'],
    ["name: a\nroots: [{name: Up, path: ..}]", '"Up" is not a valid name for a root'],
    ["name: a\nroots: [{name: resources, path: ..}]", 'two roots are called "resources"'],
    ["name: a\nroots: [{name: x, path: nowhere}]", "there is no folder nowhere"],
    ["name: a\nroots: [{name: x}]", "a root needs a name and a path"],
  ])("%j", async (yaml, expected) => {
    const [settings, problems] = await settingsOf(yaml);
    expect(problems).toEqual([expect.stringContaining(expected)]);
    expect(settings).toMatchObject({ info: { name: "a", version: "0.0.0" }, roots: [] });
  });

  test("uses the defaults after a syntax error", async () => {
    const [settings, problems] = await settingsOf("name: [a");
    expect(problems).toEqual([expect.stringMatching(/^server\.yaml:1:9: /)]);
    expect(settings.info.name).toBe("handbook");
  });
});

test("limits tool calls by default, and not if rateLimit is false", async () => {
  const tool = 'import { tool } from "mcparley/server";\nexport default tool({ call: () => "ok" });\n';
  const call = async (yaml: string): Promise<unknown> => {
    const { client } = await serveFiles({ "server.yaml": yaml, "tools/t.ts": tool });
    const results = await Promise.allSettled(Array.from({ length: 130 }, () => client.callTool("t")));
    return results.find(({ status }) => status === "rejected");
  };
  expect(await call("name: a")).toMatchObject({ reason: { message: expect.stringMatching(/Too many calls/) } });
  expect(await call("rateLimit: false")).toBeUndefined();
});
