import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isShown } from "./files/inside-folder.ts";
import { listFiles } from "./files/load-files.ts";
import type { Problem } from "./yaml/problem.ts";

/** The folders that are served, in the order in which messages name them. */
const servedFolders = ["prompts", "resources", "skills", "tools"];

/** Maximum number of ignored names in one message. */
const mostNames = 6;

/** The interpreters of scripts, by the end of the name. */
const interpreters: Readonly<Record<string, string>> = {
  sh: "sh",
  bash: "bash",
  py: "python3",
  rb: "ruby",
  pl: "perl",
};

/** The entries that a folder serves, by kind. */
export interface ServedEntries {
  /** The paths of the served files, relative to the folder. */
  readonly files: readonly string[];
  /** The files that have a problem of their own. */
  readonly broken: readonly string[];
}

/** Returns a problem for each file and folder that looks like a part of the server and is not served. */
export async function findIgnored(folder: string, { files, broken }: ServedEntries): Promise<Problem[]> {
  const top = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = top
    .filter(({ name }) => isShown(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted((a, b) => (a < b ? -1 : 1));
  const problems = [
    ...names.flatMap(misnamedFolder),
    ...(await ignoredPrompts(folder)),
    ...(await ignoredSkills(folder)),
    ...(await ignoredTools(folder)),
  ];
  const isEmpty = files.length === 0 && broken.length === 0 && problems.length === 0;
  return isEmpty ? [nothingToServe(names)] : problems;
}

function nothingToServe(names: readonly string[]): Problem {
  const ignoredNames = names.filter((name) => !servedFolders.includes(name.slice(0, -1)) && name !== "server.yaml");
  const firstNames = ignoredNames.slice(0, mostNames).join(", ");
  const more = ignoredNames.length > mostNames ? ` and ${ignoredNames.length - mostNames} more` : "";
  const ignoredText =
    ignoredNames.length === 0 ? "" : `; ${firstNames}${more} ${ignoredNames.length === 1 ? "is" : "are"} ignored`;
  return {
    file: ".",
    message: `there is nothing to serve in this folder${ignoredText}`,
    cure: "Served files are prompts/**/*.md, resources/**, skills/**/SKILL.md, and tools/**/*.ts, .js or .yaml.",
  };
}

/** Reports a folder such as `tool/` or `Prompts/`, unless the correct folder exists too. */
function misnamedFolder(name: string, _: number, all: readonly string[]): Problem[] {
  if (!name.endsWith("/")) return [];
  const plain = name.slice(0, -1).toLowerCase();
  const right = servedFolders.find((one) => one === plain || one === `${plain}s`);
  if (right === undefined || all.includes(`${right}/`)) return [];
  return [{ file: name, message: "this folder is ignored", cure: `Rename it to ${right}/.` }];
}

async function ignoredPrompts(folder: string): Promise<Problem[]> {
  const files = await listFiles(folder, "prompts", /\.(?:txt|text|markdown|mdx|ya?ml|json)$/i);
  return files.map((file) => ({
    file,
    message: "this file is ignored",
    cure: `A prompt is a Markdown file: rename it to ${withoutEnding(file)}.md.`,
  }));
}

async function ignoredTools(folder: string): Promise<Problem[]> {
  const files = await listFiles(folder, "tools", /\.(?!(?:ya?ml|[cm]?[jt]s|md|json|txt)$)[a-z0-9]+$/i);
  return files.map((file) => {
    const interpreter = interpreters[file.slice(file.lastIndexOf(".") + 1).toLowerCase()];
    const command = interpreter === undefined ? `[./${file}]` : `[${interpreter}, ${file}]`;
    const advice = `Describe it in ${withoutEnding(file)}.yaml, with \`command: ${command}\``;
    return { file, message: "this file is ignored", cure: `${advice}, or write a module (.ts, .js).` };
  });
}

async function ignoredSkills(folder: string): Promise<Problem[]> {
  const manifests = await listFiles(folder, "skills", /^SKILL\.md$/);
  const entries = await readdir(join(folder, "skills"), { withFileTypes: true }).catch(() => []);
  const folders = entries
    .filter((entry) => entry.isDirectory() && isShown(entry.name))
    .map(({ name }) => `skills/${name}/`);
  return folders
    .filter((path) => !manifests.some((file) => file.startsWith(path)))
    .toSorted()
    .map((file) => ({
      file,
      message: "this folder is ignored",
      cure: `A skill has a file SKILL.md: add ${file}SKILL.md.`,
    }));
}

function withoutEnding(file: string): string {
  return file.replace(/\.\w+$/, "");
}
