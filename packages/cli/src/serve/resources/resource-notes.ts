import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Annotations, Icon, Role } from "mcparley";
import { nearest } from "../../terminal/did-you-mean.ts";
import { icons } from "../yaml/values.ts";
import { type Problem, orProblem } from "../yaml/problem.ts";
import { type Field, members, number, readMembers, readYaml, text, texts, wrong } from "../yaml/yaml-fields.ts";

/** The metadata of a file in `resources.yaml`. */
export interface ResourceNotes {
  title?: string;
  description?: string;
  mimeType?: string;
  icons?: Icon[];
  annotations: Annotations;
}

const notesFile = "resources.yaml";

/**
 * Reads `resources.yaml`: the metadata of files, by path below `resources/` (or `root:path` for another root).
 *
 * `known` contains the names of the existing files. An invalid entry is reported, and the others are used.
 */
export async function readNotes(
  folder: string,
  fileNames: ReadonlySet<string>,
  report: (problem: Problem) => void,
): Promise<Map<string, ResourceNotes>> {
  const notes = new Map<string, ResourceNotes>();
  const source = await readFile(join(folder, notesFile), "utf8").catch(() => undefined);
  if (source === undefined) return notes;
  const entries = await orProblem(() => members(readYaml({ file: notesFile, text: source })), report);
  for (const [path, field] of entries ?? []) {
    const name = path.includes(":") ? path.replace(":", "/") : `resources/${path}`;
    await orProblem(() => {
      if (!fileNames.has(name)) {
        const paths = [...fileNames].map((file) => file.replace(/^resources\//, ""));
        const similar = nearest(path, paths);
        const cure = similar === undefined ? "Correct the path, or remove the entry." : `Did you mean "${similar}"?`;
        throw wrong(field, `there is no file ${path}`, cure);
      }
      notes.set(name, notesOf(field));
    }, report);
  }
  return notes;
}

function notesOf(field: Field): ResourceNotes {
  const { audience, priority, ...notes } = readMembers(field, {
    title: text,
    description: text,
    mimeType: text,
    icons,
    audience: readAudience,
    priority: readPriority,
  });
  return { ...notes, annotations: { ...(audience && { audience }), ...(priority !== undefined && { priority }) } };
}

function readAudience(field: Field): Role[] {
  for (const word of texts(field)) {
    if (word !== "user" && word !== "assistant") {
      throw wrong(field, `"${word}" is not an audience`, "Write [user], [assistant] or [user, assistant].");
    }
  }
  return texts(field) as Role[];
}

function readPriority(field: Field): number {
  const value = number(field);
  if (value <= 1) return value;
  throw wrong(field, `"${field.path}" must be between 0 and 1`, "1 means required, and 0 means optional.");
}
