import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { dirname } from "node:path/posix";
import type { Prompt, Resource, Tool } from "mcparley/server";
import type { Skill } from "mcparley/skills";
import { codeFile, codeModules } from "./tools/code-modules.ts";
import { findIgnored } from "./ignored-files.ts";
import type { ServedRoot } from "./files/inside-folder.ts";
import { listFiles, loadEach, readText } from "./files/load-files.ts";
import { type FoundTools, loadTools } from "./tools/load-tools.ts";
import type { Loaded, Problem } from "./yaml/problem.ts";
import { suggest } from "./prompts/prompt-arguments.ts";
import { promptEngine } from "./prompts/prompt-engine.ts";
import { type PromptScope, filePrompt } from "./prompts/prompt-file.ts";
import { type ResourceFile, findResourceFiles, nameOf, schemeOf } from "./resources/resource-files.ts";
import { readNotes } from "./resources/resource-notes.ts";
import { fileResource, rootTemplate } from "./resources/resources.ts";
import { type ScopeRules, scopeRules } from "./settings/scope-rules.ts";
import { type ServerSettings, readSettings, settingsFile } from "./settings/server-settings.ts";
import { skillsLoader } from "./skills.ts";

/** The contents of a folder at one moment, with the problems in its files. */
export interface FolderContents {
  settings: ServerSettings;
  tools: Loaded<Tool>[];
  prompts: Loaded<Prompt>[];
  resources: Loaded<Resource>[];
  skills: Loaded<Skill>[];
  problems: Problem[];
}

export interface FolderLoader {
  /** Absolute path with every link followed. */
  readonly folder: string;
  /**
   * Reads the folder. `changed` lists the paths, relative to the folder, that changed since the last call. With it,
   * tool modules run again only if code changed.
   */
  load(changedFiles?: readonly string[]): Promise<FolderContents>;
}

export interface LoaderOptions {
  /** Replaces the name in `server.yaml`. */
  name?: string;
  env?: NodeJS.ProcessEnv;
  /** Called with the number of files that are read so far, after each 2,000. */
  onProgress?: (files: number) => void;
  /**
   * Whether `auth.needs` applies. It does not apply over stdio, because the user who starts the process can read the
   * files anyway.
   */
  hasScopes?: boolean;
}

/** Returns a loader that can read a folder repeatedly. Rejects if the folder does not exist. */
export async function folderLoader(path: string, options: LoaderOptions = {}): Promise<FolderLoader> {
  const folder = await realpath(path);
  const modules = codeModules(folder);
  const loadSkills = skillsLoader(folder);
  let files = new Map<string, ResourceFile>();
  let foundTools: FoundTools | undefined;
  let rules: ScopeRules | undefined;

  async function load(changedFiles?: readonly string[]): Promise<FolderContents> {
    const problems: Problem[] = [];
    const report = (problem: Problem): void => void problems.push(problem);
    const settings = await readSettings(folder, report);
    if (options.name !== undefined) settings.info.name = options.name;
    // The first rules stay in force, because a file that is being edited must not remove a protection.
    rules ??= await scopeRules((options.hasScopes && settings.auth?.needs) || [], folder, settings.roots);
    const scopes = rules;
    const codeChanged = changedFiles?.some((file) => codeFile.test(file) || file.endsWith(".json")) ?? true;
    const toolsChanged = codeChanged || changedFiles!.some((file) => file.startsWith("tools/"));
    if (codeChanged) modules.forget();
    if (toolsChanged || !foundTools) foundTools = await loadTools(folder, modules, options.env ?? process.env);
    problems.push(...foundTools.problems);

    const listing = await findResourceFiles(settings.roots, settings.files, {
      previousFiles: files,
      onProgress: options.onProgress,
    });
    files = new Map(listing.files.map((file) => [nameOf(file), file]));
    problems.push(...listing.problems);
    if (listing.more) report(tooMany(settings, listing.more));
    const notes = await readNotes(folder, new Set(files.keys()), report);
    const reading = { scheme: schemeOf(settings.info.name), fileSize: settings.fileSize, rules: scopes };
    // Files that need scopes are never suggested, because completion does not know the client's scopes.
    const filesIn = ({ name }: ServedRoot): string[] =>
      [...files.values()]
        .filter((file) => file.root.name === name && scopes.scopesOf(nameOf(file)).length === 0)
        .map(({ path }) => path);
    const resources = [
      ...listing.files.map((file) => fileResource(file, notes.get(nameOf(file)), reading)),
      ...settings.roots.map((root) =>
        rootTemplate(
          root,
          suggest(() => filesIn(root)),
          reading,
        ),
      ),
    ];
    const prompts = await loadPrompts({ ...reading, folder, roots: settings.roots, modules, filesIn }, report);
    const skills = await loadSkills(settings, report);
    const servedFiles = [...foundTools.tools, ...prompts, ...resources, ...skills].map(({ file }) => file);
    problems.push(...scopes.problemsOfUnused(servedFiles));
    const rootNames = new Set(settings.roots.map(({ name }) => name));
    const ownFiles = servedFiles.filter((file) => !rootNames.has(file));
    problems.push(...(await findIgnored(folder, { files: ownFiles, broken: problems.map(({ file }) => file) })));
    return {
      settings,
      tools: foundTools.tools.map((tool) => withScopes(tool, scopes.scopesOf(tool.file))),
      prompts: prompts.map((prompt) => withScopes(prompt, scopes.scopesOf(prompt.file))),
      resources,
      skills: skills.map((skill) => withScopes(skill, scopes.ofAllIn(dirname(skill.file)))),
      problems,
    };
  }
  return { folder, load };
}

async function loadPrompts(
  reading: Omit<PromptScope, "prompts" | "engine">,
  report: (problem: Problem) => void,
): Promise<Loaded<Prompt>[]> {
  const { folder } = reading;
  const path = join(folder, "prompts");
  const prompts = { name: "prompts", path, real: await realpath(path).catch(() => path) };
  const scope: PromptScope = { ...reading, prompts, engine: promptEngine(folder) };
  return loadEach(await listFiles(folder, "prompts", /\.md$/), report, async (file) => [
    await filePrompt(file, await readText(folder, file), scope),
  ]);
}

/** Adds scopes to the scopes of a definition. */
function withScopes<D extends { scopes?: readonly string[] | undefined }>(
  entry: Loaded<D>,
  scopes: readonly string[],
): Loaded<D> {
  if (scopes.length === 0) return entry;
  const { definition } = entry;
  const all = [...new Set([...(definition.scopes ?? []), ...scopes])];
  return { ...entry, definition: { ...definition, scopes: all } };
}

function tooMany(
  { files, filesPlace = { file: "resources" } }: ServerSettings,
  { total, first }: { total: number; first: string },
): Problem {
  const message = `the folder has ${total} files, and at most ${files} are listed: ${first} and the files after it are not listed`;
  const cure = `Raise limits.files in ${settingsFile}, or serve a smaller folder.`;
  return { ...filesPlace, message, cure };
}
