import { createHash } from "node:crypto";
import { basename, dirname } from "node:path/posix";
import { LocalError } from "mcparley";
import { resourceNotFound } from "mcparley/server";
import { FrontMatterError, type Skill, type SkillFile, readFrontMatter, skill } from "mcparley/skills";
import { type ServedRoot, resolveInside, skillsRoot } from "./files/inside-folder.ts";
import { loadEach } from "./files/load-files.ts";
import { FolderProblem, type Loaded, type Problem, problemAt } from "./yaml/problem.ts";
import { showSize } from "../terminal/show-content.ts";
import { readBytes } from "./files/read-contents.ts";
import { type ResourceFile, findResourceFiles, nameOf } from "./resources/resource-files.ts";
import { type ServerSettings, settingsFile } from "./settings/server-settings.ts";

type Report = (problem: Problem) => void;

/** The limits that every client supports for one skill (SEP-2640, Limits). */
const maxBytes = 16 * 1024 ** 2;
const maxFiles = 512;

/** Returns a loader for `skills/`: each folder in it that holds a `SKILL.md`, with all files of that folder. */
export function skillsLoader(folder: string): (settings: ServerSettings, report: Report) => Promise<Loaded<Skill>[]> {
  let previousFiles = new Map<string, ResourceFile>();
  /** The digests of settled files. */
  const digests = new Map<string, { stamp: string; digest: string }>();
  /** The skills of the last reading whose files are all settled, by the path of `SKILL.md`, with the stamps of the files. */
  const loadedSkills = new Map<string, { stamps: string; skill: Loaded<Skill> }>();

  async function digestOf(file: ResourceFile): Promise<string> {
    const storedDigest = digests.get(file.path);
    if (storedDigest?.stamp === file.stamp) return storedDigest.digest;
    const bytes = (await readFile(file, maxBytes)) ?? Buffer.alloc(0);
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (file.isSettled) digests.set(file.path, { stamp: file.stamp, digest });
    return digest;
  }

  /** Returns the skill of the last reading if none of its files can have changed since, and loads it again otherwise. */
  async function reload(path: string, files: readonly ResourceFile[], fileSize: number): Promise<Loaded<Skill>> {
    const stamps = JSON.stringify([fileSize, files.map((file) => [file.path, file.stamp])]);
    const previousSkill = loadedSkills.get(path);
    if (previousSkill?.stamps === stamps) return previousSkill.skill;
    const skill = await load(path, files, fileSize);
    if (files.every(({ isSettled }) => isSettled)) loadedSkills.set(path, { stamps, skill });
    else loadedSkills.delete(path);
    return skill;
  }

  async function load(path: string, files: readonly ResourceFile[], fileSize: number): Promise<Loaded<Skill>> {
    const manifest = files.find((file) => file.path === path)!;
    checkFiles(manifest, files, fileSize);
    const text = (await readFile(manifest, fileSize)) ?? Buffer.alloc(0);
    const place = dirname(path);
    const entries = await Promise.all(
      files.map(async (file): Promise<[string, SkillFile]> => {
        const innerPath = file.path.slice(place.length + 1);
        return [innerPath, file === manifest ? text : storedFile(file, await digestOf(file), fileSize)];
      }),
    );
    const sums = entries.map(([innerPath, file]) => [innerPath, sumOf(file)]);
    const shape = JSON.stringify([text.toString("latin1"), sums]);
    const definition = makeSkill(place, manifest, Object.fromEntries(entries));
    return { name: place, file: nameOf(manifest), definition, shape };
  }

  return async ({ files: limit, filesPlace, fileSize }, report) => {
    const root = await skillsRoot(folder);
    const { files, more, problems } = await findResourceFiles(root ? [root] : [], limit, { previousFiles });
    problems.forEach(report);
    previousFiles = new Map(files.map((file) => [nameOf(file), file]));
    for (const path of digests.keys()) if (!previousFiles.has(`skills/${path}`)) digests.delete(path);
    // Files are found folder by folder. If the limit is exceeded, the folder of the last file may be incomplete.
    const lastPath = more ? files.at(-1)?.path : undefined;
    if (lastPath !== undefined) report(tooMany(limit, filesPlace));
    const manifests = files
      .map(({ path }) => path)
      .filter((path) => basename(path) === "SKILL.md" && !lastPath?.startsWith(`${dirname(path)}/`));
    for (const path of loadedSkills.keys()) if (!previousFiles.has(`skills/${path}`)) loadedSkills.delete(path);
    const filesOf = filesByFolder(files, manifests);
    return loadEach(manifests, report, async (path) => {
      if (path === "SKILL.md") throw atTop;
      return [await reload(path, filesOf.get(dirname(path)) ?? [], fileSize)];
    });
  };
}

/** Returns the files in the folder of each of these manifests, including those of subfolders, by folder. */
function filesByFolder(files: readonly ResourceFile[], manifests: readonly string[]): Map<string, ResourceFile[]> {
  const filesOf = new Map(manifests.map((path): [string, ResourceFile[]] => [dirname(path), []]));
  for (const file of files) {
    for (let end = file.path.lastIndexOf("/"); end !== -1; end = file.path.lastIndexOf("/", end - 1)) {
      filesOf.get(file.path.slice(0, end))?.push(file);
    }
  }
  return filesOf;
}

const atTop = problemAt(
  { file: "skills/SKILL.md", line: 1 },
  "a skill must be in its own folder",
  "Move the file into skills/NAME/, with the skill's name for NAME.",
);

function tooMany(limit: number, place: ServerSettings["filesPlace"] = { file: "skills/" }): Problem {
  const message = `there are more than ${limit} files in skills/, and the last skills are not offered`;
  return { ...place, message, cure: `Raise limits.files in ${settingsFile}, or remove files.` };
}

/** A skill file with the digest from the last reading. Each read checks the path again and reads the file again. */
function storedFile(file: ResourceFile, digest: string, fileSize: number): SkillFile {
  return {
    digest,
    size: file.size,
    mimeType: file.mimeType,
    read: async () => (await readFile(file, fileSize).catch(() => undefined)) ?? throwNotFound(file),
  };
}

function throwNotFound({ path }: ResourceFile): never {
  throw resourceNotFound(`skill://${path.split("/").map(encodeURIComponent).join("/")}`);
}

function sumOf(file: SkillFile): unknown {
  return typeof file === "object" && "digest" in file ? [file.digest, file.mimeType] : undefined;
}

async function readFile(
  { root, path }: { root: ServedRoot; path: string },
  limit: number,
): Promise<Buffer | undefined> {
  const real = await resolveInside(root, path);
  return real === undefined ? undefined : readBytes(real, limit);
}

/** Checks the limits by file size, before any file is read. */
function checkFiles(manifest: ResourceFile, files: readonly ResourceFile[], fileSize: number): void {
  const wrong = (message: string, cure: string): FolderProblem =>
    problemAt({ file: nameOf(manifest), line: 1 }, message, cure);
  if (files.length > maxFiles) {
    throw wrong(
      `the skill has ${files.length} files, and clients accept at most ${maxFiles}`,
      "Remove files that it does not refer to.",
    );
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > maxBytes) {
    throw wrong(
      `the skill has ${showSize(bytes)}, and clients accept at most ${showSize(maxBytes)}`,
      "Remove files that it does not refer to.",
    );
  }
  const large = files.find(({ size }) => size > fileSize);
  if (large) {
    const cure = "Raise limits.fileSize in server.yaml, or make the file smaller.";
    throw wrong(`${nameOf(large)} has ${showSize(large.size)}, and at most ${showSize(fileSize)} are read`, cure);
  }
}

function makeSkill(place: string, manifest: ResourceFile, files: Record<string, SkillFile>): Skill {
  const file = nameOf(manifest);
  try {
    const madeSkill = skill(files);
    const { name } = madeSkill.frontmatter;
    if (name === basename(place)) return madeSkill;
    const text = new TextDecoder().decode(files["SKILL.md"] as Uint8Array);
    const line = readFrontMatter(text).lines.get("name") ?? 1;
    const message = `the skill is called "${name}", and its folder "${basename(place)}"`;
    throw problemAt({ file, line }, message, "Give both the same name.");
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    const { cause } = error;
    const isPlaced = cause instanceof FrontMatterError;
    const message = isPlaced ? cause.reason : error.message;
    const cure = (isPlaced && cause.cure) || "Correct it; see https://agentskills.io/specification.";
    throw new FolderProblem({ file, line: isPlaced ? cause.line : 1, message, cure }, { cause: error });
  }
}
