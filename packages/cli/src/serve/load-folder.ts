import { readFile, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Prompt, Resource, Tool } from "mcparley/server";
import { type CodeModules, codeFile, codeModules } from "./code-modules.ts";
import { commandTool } from "./command-tool.ts";
import { type ServedRoot, isShown } from "./inside-folder.ts";
import type { Loaded } from "./loaded.ts";
import { FolderProblem, type Problem, orProblem } from "./problem.ts";
import { suggest } from "./prompt-arguments.ts";
import { promptEngine } from "./prompt-engine.ts";
import { type PromptScope, filePrompt } from "./prompt-file.ts";
import { type ResourceFile, findResourceFiles, nameOf } from "./resource-files.ts";
import { notesFile, readNotes } from "./resource-notes.ts";
import { schemeOf } from "./resource-uri.ts";
import { fileResource, rootTemplate } from "./resources.ts";
import { type ServerSettings, readSettings } from "./server-settings.ts";
import { loadToolModule } from "./tool-modules.ts";

/** All that a folder offers at one moment, and what is wrong with it. */
export interface FolderContents {
  settings: ServerSettings;
  tools: Loaded<Tool>[];
  prompts: Loaded<Prompt>[];
  resources: Loaded<Resource>[];
  problems: Problem[];
}

export interface FolderLoader {
  /** Absolute, with every link followed. */
  readonly folder: string;
  /**
   * Reads the folder. With `changed`, the paths (relative to it) that changed since the last time, tool modules are
   * run again only where code changed.
   */
  load(changed?: readonly string[]): Promise<FolderContents>;
}

export interface LoaderOptions {
  /** Stands in for the name in `server.yaml`. */
  name?: string;
  env?: NodeJS.ProcessEnv;
}

/** Makes what reads a folder, again and again while it changes. Rejects where there is no such folder. */
export async function folderLoader(path: string, options: LoaderOptions = {}): Promise<FolderLoader> {
  const folder = await realpath(path);
  const modules = codeModules(folder);
  let files = new Map<string, ResourceFile>();
  let tools: Found<Tool> | undefined;

  async function load(changed?: readonly string[]): Promise<FolderContents> {
    const problems: Problem[] = [];
    const report = (problem: Problem): void => void problems.push(problem);
    const settings = await readSettings(folder, report);
    if (options.name !== undefined) settings.name = options.name;
    const scheme = schemeOf(settings.name);
    const codeChanged = changed?.some((file) => codeFile.test(file) || file.endsWith(".json")) ?? true;
    const toolsChanged = codeChanged || changed!.some((file) => file.startsWith("tools/"));
    if (codeChanged) modules.forget();
    if (toolsChanged || !tools) tools = await loadTools(folder, modules, options.env ?? process.env);
    problems.push(...tools.problems);

    const found = await findResourceFiles(settings.roots, settings.files, files);
    files = new Map(found.files.map((file) => [nameOf(file), file]));
    if (found.more) report(tooMany(settings.files));
    const notes = await readNotes(folder, new Set(files.keys()), report);
    const reading = { scheme, fileSize: settings.fileSize };
    const pathsOf = (root: ServedRoot): string[] =>
      [...files.values()].filter((file) => file.root.name === root.name).map((file) => file.path);
    const resources = [
      ...found.files.map((file) => fileResource(file, notes.get(nameOf(file)), reading)),
      ...settings.roots.map((root) =>
        rootTemplate(
          root,
          suggest(() => pathsOf(root)),
          reading,
        ),
      ),
    ];

    const path = join(folder, "prompts");
    const scope: PromptScope = {
      ...reading,
      folder,
      roots: settings.roots,
      prompts: { name: "prompts", path, real: await realpath(path).catch(() => path) },
      modules,
      engine: promptEngine(folder),
      files: () => files.values(),
    };
    const prompts = await loadEach(await listFiles(folder, "prompts", /\.md$/), report, async (file) => [
      await filePrompt(file, await readText(folder, file), scope),
    ]);
    return { settings, tools: tools.items, prompts, resources, problems };
  }
  return { folder, load };
}

interface Found<D> {
  items: Loaded<D>[];
  problems: Problem[];
}

async function loadTools(folder: string, modules: CodeModules, env: NodeJS.ProcessEnv): Promise<Found<Tool>> {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const files = await listFiles(folder, "tools", /\.(?:ya?ml|[cm]?[jt]s)$/);
  const loaded = await loadEach(files, report, async (file) =>
    codeFile.test(file)
      ? loadToolModule(file, modules)
      : [await commandTool(file, await readText(folder, file), { folder, env })],
  );
  const byName = new Map<string, Loaded<Tool>>();
  for (const tool of loaded) {
    const other = byName.get(tool.name);
    if (!other) byName.set(tool.name, tool);
    else report(sameName(tool, other));
  }
  return { items: [...byName.values()], problems };
}

/** Loads file after file; one that has a problem is reported, and the others go on. */
async function loadEach<D>(
  files: readonly string[],
  report: (problem: Problem) => void,
  load: (file: string) => Promise<Loaded<D>[]>,
): Promise<Loaded<D>[]> {
  const loaded: Loaded<D>[] = [];
  for (const file of files) {
    try {
      loaded.push(...((await orProblem(() => load(file), report)) ?? []));
    } catch (error) {
      // Whatever one file brings about, the others are served.
      const message = `the file cannot be taken up: ${error instanceof Error ? error.message : String(error)}`;
      report({ file, line: 1, message, cure: "This may be a defect of mcparley: please report it with the file." });
    }
  }
  return loaded;
}

/** The files below a sub-folder, by path. What begins with `_`, tests and type declarations belong to others. */
async function listFiles(folder: string, sub: string, wanted: RegExp): Promise<string[]> {
  const entries = await readdir(join(folder, sub), { withFileTypes: true }).catch(() => []);
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!isShown(entry.name) || entry.name.startsWith("_")) continue;
    const path = `${sub}/${entry.name}`;
    if (entry.isDirectory()) files.push(...(await listFiles(folder, path, wanted)));
    else if (entry.isFile() && wanted.test(entry.name) && !/\.(?:test|spec|d)\.[cm]?[jt]s$/.test(entry.name))
      files.push(path);
  }
  return files;
}

async function readText(folder: string, file: string): Promise<string> {
  try {
    return await readFile(join(folder, file), "utf8");
  } catch (cause) {
    const cure = "Check that this process may read it.";
    throw new FolderProblem({ file, line: 1, message: "the file cannot be read", cure }, { cause });
  }
}

function sameName(tool: Loaded<Tool>, other: Loaded<Tool>): Problem {
  const message = `the tool "${tool.name}" is in ${other.file} already`;
  return { file: tool.file, line: 1, message, cure: "Rename one of the two." };
}

function tooMany(limit: number): Problem {
  const message = `there are more than ${limit} files, and the others are not listed`;
  return { file: notesFile, line: 1, message, cure: "Raise limits.files in server.yaml, or serve a smaller folder." };
}
