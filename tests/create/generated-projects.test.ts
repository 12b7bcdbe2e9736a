import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "mcparley/client";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProject } from "../../packages/create-mcparley/src/create.js";

/*
 * The projects of create-mcparley are compiled and run with the packages of this repository. `npm run check -- create` installs the packed packages.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Inside the workspace of the tests, so that the projects find the packages that a user has installed. */
const generated = path.join(root, "tests/types/.generated/create");
const isWindows = process.platform === "win32";

describe.each(["stdio", "http"] as const)("the project for %s", (transport) => {
  const folder = path.join(generated, transport);
  const inProject = (...args: string[]): { status: number | null; stdout: string } =>
    spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } });

  const change = (name: string, replace: (text: string) => string): void => {
    const file = path.join(folder, name);
    writeFileSync(file, replace(readFileSync(file, "utf8")));
  };

  /** Runs npm in the project, which finds the programs of this repository. Returns its stdout. */
  const npm = (...args: string[]): string => {
    const env = { ...process.env, NODE_OPTIONS: "", TSX_DISABLE_CACHE: "1" };
    const { status, stdout, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", env, shell: isWindows });
    if (status !== 0) throw new Error(`npm ${args.join(" ")} ended with ${status}.\n${stdout}${stderr}`);
    return stdout;
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
      ["install", ...Object.keys(scripts).filter((name) => name !== "build" && name !== "prepack")].toSorted(),
    );
    const files = [...text.matchAll(/`((?:src|\.\w+)\/[\w./]+|\.mcp\.json)`/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(5);
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    expect(links).toContain("node_modules/mcparley/llms.txt");
    // The packages of this repository have the files that a user has installed.
    const exists = (file: string): boolean =>
      existsSync(file.startsWith("node_modules/") ? path.join(root, file) : path.join(folder, file));
    expect([...files, ...links].filter((file) => !exists(file))).toEqual([]);
  });

  test("is packed with its program and without tests, and the packed program serves", async () => {
    const packed = JSON.parse(npm("pack", "--json", "--ignore-scripts")) as [
      { filename: string; files: { path: string }[] },
    ];
    const [{ filename, files }] = packed;
    expect(files.map((file) => file.path).toSorted()).toEqual(
      ["README.md", "dist/main.js", "dist/server.js", "package.json"].toSorted(),
    );
    // Inside of the project, so that the program finds its packages as an installed one does.
    const target = path.join(folder, "installed");
    mkdirSync(target);
    expect(spawnSync("tar", ["-xzf", filename, "-C", target], { cwd: folder }).status).toBe(0);
    const { bin } = manifestOf(path.join(target, "package"));
    const program = path.join(target, "package", bin.notes ?? "");
    expect(readFileSync(program, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    const { client, stop } = await (transport === "http" ? overHttp(folder, program) : onStdio(folder, program));
    try {
      expect(await client.callTool("add_note", { title: "milk", text: "Buy milk." })).toBe("note://milk");
    } finally {
      await stop();
      rmSync(target, { recursive: true });
      rmSync(path.join(folder, filename));
    }
  });

  test("has a workflow whose commands are scripts of the project, or of npm", () => {
    const workflow = load(readFileSync(path.join(folder, ".github/workflows/ci.yml"), "utf8")) as Workflow;
    expect(Object.keys(workflow.on)).toEqual(["push", "pull_request"]);
    const commands = workflow.jobs.test.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(commands).toEqual(["npm ci", "npm run typecheck", "npm test", "npm pack"]);
    // `npm ci` needs the lock file of an installation: `npm run check -- create` runs it.
    for (const command of commands.slice(1)) npm(...command.split(" ").slice(1));
    for (const name of readdirSync(folder)) if (name.endsWith(".tgz")) rmSync(path.join(folder, name));
  });

  test("npm run dev restarts after a change", async () => {
    const { scripts } = manifestOf(folder);
    const [program, ...args] = (scripts.dev ?? "").split(" ");
    expect(program).toBe("tsx");
    const tsx = path.join(root, "node_modules/tsx/dist/cli.mjs");
    const env = { ...process.env, NODE_OPTIONS: "", TSX_DISABLE_CACHE: "1", TMPDIR: folder, PORT: "0" };
    const child = spawn(process.execPath, [tsx, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "close");
    const original = readFileSync(path.join(folder, "src/server.ts"), "utf8");
    try {
      expect(await descriptionAt(child.stdout)).toBe("Adds a note. Returns its URI.");
      const changed = descriptionAt(child.stdout);
      change("src/server.ts", (text) => text.replace("Adds a note. Returns its URI.", "Adds another note."));
      expect(await changed).toBe("Adds another note.");
    } finally {
      child.kill("SIGTERM");
      await ended;
      writeFileSync(path.join(folder, "src/server.ts"), original);
    }
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

/** The parts of a workflow of GitHub that the tests read. */
interface Workflow {
  on: object;
  jobs: { test: { steps: { run?: string }[] } };
}

function manifestOf(folder: string): { bin: Record<string, string>; scripts: Record<string, string> } {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as never;
}

/** Waits for the next URL that a server prints, and returns the description of its tool. */
async function descriptionAt(stdout: Readable): Promise<string | undefined> {
  for (;;) {
    const [text] = (await once(stdout, "data")) as [Buffer];
    const [url] = /http:\S+/.exec(text.toString()) ?? [];
    if (url === undefined) continue;
    const client = await connect(url);
    const tools = await client.listTools().all();
    await client.close();
    return tools[0]?.description;
  }
}

async function onStdio(cwd: string, program = "dist/main.js"): Promise<Served> {
  const client = await connect({ command: process.execPath, args: [program], cwd });
  return { client, stop: () => client.close() };
}

async function overHttp(cwd: string, program = "dist/main.js"): Promise<Served> {
  const env = { ...process.env, PORT: "0" };
  const child = spawn(process.execPath, [program], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
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
