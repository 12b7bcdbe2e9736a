import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "mcparley/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProject } from "../../packages/create-mcparley/src/create.js";

/*
 * The projects of create-mcparley are compiled and run with the packages of this repository. `npm run check -- create` installs the packed packages.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Inside the workspace of the tests, so that the projects find the packages that a user has installed. */
const generated = path.join(root, "tests/types/.generated/create");

describe.each(["stdio", "http"] as const)("the project for %s", (transport) => {
  const folder = path.join(generated, transport);
  const inProject = (...args: string[]): { status: number | null; stdout: string } =>
    spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } });

  const change = (name: string, replace: (text: string) => string): void => {
    const file = path.join(folder, name);
    writeFileSync(file, replace(readFileSync(file, "utf8")));
  };

  beforeAll(() => {
    rmSync(folder, { recursive: true, force: true });
    createProject({ folder, name: "notes", transport });
    const { status, stdout } = inProject(path.join(root, "node_modules/typescript/bin/tsc"));
    if (status !== 0) throw new Error(stdout);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("passes its tests", () => {
    expect(inProject("--test", "--test-reporter=tap", "dist/server.test.js")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^# pass 3$/m) as string,
    });
  });

  test("serves its tool, prompt and resource", async () => {
    const { client, stop } = await (transport === "http" ? overHttp(folder) : onStdio(folder));
    try {
      expect(await client.callTool("add_note", { title: "milk", text: "Buy milk." })).toBe("note://milk");
      expect((await client.readResource("note://milk")).contents).toMatchObject([{ text: "Buy milk." }]);
      expect((await client.getPrompt("summarize", { title: "milk" })).messages).toHaveLength(1);
    } finally {
      await stop();
    }
  });

  test("has an AGENTS.md that names existing scripts and files", () => {
    const text = readFileSync(path.join(folder, "AGENTS.md"), "utf8");
    const { scripts } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { scripts: object };
    const named = [...text.matchAll(/`npm (?:run )?([\w-]+)`/g)].map(([, name = ""]) => name);
    expect([...new Set(named)].toSorted()).toEqual(
      ["install", ...Object.keys(scripts).filter((name) => name !== "build")].toSorted(),
    );
    const files = [...text.matchAll(/`((?:src|\.\w+)\/[\w.]+|\.mcp\.json)`/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(5);
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    expect(links).toContain("node_modules/mcparley/llms.txt");
    // The packages of this repository have the files that a user has installed.
    const exists = (file: string): boolean =>
      existsSync(file.startsWith("node_modules/") ? path.join(root, file) : path.join(folder, file));
    expect([...files, ...links].filter((file) => !exists(file))).toEqual([]);
  });

  test("passes with the tool and the test that AGENTS.md adds", () => {
    const text = readFileSync(path.join(folder, "AGENTS.md"), "utf8");
    const [definition = "", added = ""] = [...text.matchAll(/^ +```ts\n([\s\S]*?)^ +```$/gm)].map(([, code]) => code);
    const [, tools = ""] = /`(tools: \{.*?\})`/.exec(text) ?? [];
    change("src/server.ts", (source) =>
      source.replace("export const server", `${definition}\nexport const server`).replace(/tools: \{.*?\}/, tools),
    );
    change("src/server.test.ts", (source) => `${source}\n${added}`);
    expect(inProject(path.join(root, "node_modules/typescript/bin/tsc"))).toMatchObject({ status: 0, stdout: "" });
    expect(inProject("--test", "--test-reporter=tap", "dist/server.test.js")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^# pass 4$/m) as string,
    });
  });

  test("uses the versions of packages with which this repository is tested", () => {
    const versions = (file: string): Record<string, string> => {
      const { dependencies, devDependencies } = JSON.parse(readFileSync(file, "utf8")) as Record<string, object>;
      return { ...dependencies, ...devDependencies };
    };
    const { zod, typescript, "@types/node": node } = versions(path.join(root, "package.json"));
    const ours = JSON.parse(readFileSync(path.join(root, "packages/mcparley/package.json"), "utf8")) as {
      version: string;
    };
    expect(versions(path.join(folder, "package.json"))).toMatchObject({
      mcparley: `^${ours.version}`,
      "@mcparley/cli": `^${ours.version}`,
      zod: `^${zod}`,
      typescript: `^${typescript}`,
      "@types/node": `^${node}`,
    });
  });
});

interface Served {
  client: Client;
  stop: () => Promise<void>;
}

async function onStdio(cwd: string): Promise<Served> {
  const client = await connect({ command: process.execPath, args: ["dist/main.js"], cwd });
  return { client, stop: () => client.close() };
}

async function overHttp(cwd: string): Promise<Served> {
  const env = { ...process.env, PORT: "0" };
  const child = spawn(process.execPath, ["dist/main.js"], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  const client = await connect(/http:\S+/.exec(first.toString())?.[0] ?? "");
  const stop = async (): Promise<void> => {
    await client.close();
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  };
  return { client, stop };
}
