import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { createServer, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { temporaryFolder } from "../serve/testing/temporary-folder.ts";
import { runWith } from "./testing/fake-io.ts";

const url = "http://127.0.0.1:1/mcp";
const where = tool({ call: async (_, ctx) => JSON.stringify(await ctx.roots()) });
const server = createServer({ name: "roots", version: "1.0.0", tools: { where } });

test.each(["2026-07-28", "2025-11-25"])("declares the folders of --root as roots on %s", async (revision) => {
  const cwd = await temporaryFolder({ "a b/file.txt": "", "c/file.txt": "" });
  const words = ["call", url, "where", "--root", "a b", "--root", join(cwd, "c"), "--revision", revision];
  const { code, io } = await runWith({ server, cwd }, words);
  expect(code).toBe(0);
  expect(io.err()).toBe("");
  expect(JSON.parse(io.out())).toEqual([
    { uri: pathToFileURL(join(cwd, "a b")).href, name: "a b" },
    { uri: pathToFileURL(join(cwd, "c")).href, name: "c" },
  ]);
});

test("declares no roots without --root", async () => {
  const { code, io } = await runWith({ server }, ["call", url, "where"]);
  expect(code).toBe(2);
  expect(io.err()).toContain("--root DIR");
});

test.each([
  ["missing", "--root missing does not exist."],
  ["file.txt", "--root file.txt is a file, not a folder."],
])("refuses --root %s before the connection", async (root, message) => {
  const cwd = await temporaryFolder({ "file.txt": "" });
  const { code, io } = await runWith({ server, cwd }, ["list", url, "--root", root]);
  expect(code).toBe(1);
  expect(io.targets).toEqual([]);
  expect(io.err()).toContain(message);
});
