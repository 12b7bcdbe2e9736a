// @ts-check
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {{ folder: string; name: string; transport: "stdio" | "http" }} Project */

const templates = fileURLToPath(new URL("../templates", import.meta.url));
/** npm leaves out files with these names, so the templates have them without the dot. */
const renamed = new Map([["gitignore", ".gitignore"]]);

/** A reason why no project was written. Its message is for the user. */
export class CreateError extends Error {
  /** @override */
  name = "CreateError";
}

/**
 * Writes a project into a new or empty folder. Checks everything before it writes. Throws `CreateError` if the name is invalid or the folder is in use.
 *
 * @param {Project} project
 * @returns {Project & { files: string[] }}
 */
export function createProject(project) {
  const folder = path.resolve(project.folder);
  checkName(project.name);
  checkFolder(folder);
  const files = [...filesOf("common"), ...filesOf(project.transport)];
  try {
    for (const { source, target } of files) {
      const file = path.join(folder, target);
      mkdirSync(path.dirname(file), { recursive: true });
      const text = readFileSync(source, "utf8").replaceAll("{{name}}", project.name);
      writeFileSync(file, text, { flag: "wx" });
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CreateError(`The project cannot be written to ${folder}: ${reason}`, { cause });
  }
  return { ...project, folder, files: files.map(({ target }) => target) };
}

/** Throws if a name is no name of a package, which also is a name that hosts accept for a server. @param {string} name */
function checkName(name) {
  if (/^[a-z\d][a-z\d._-]{0,63}$/.test(name) && name !== "node_modules") return;
  throw new CreateError(
    `${JSON.stringify(name)} is not a valid name. Use at most 64 lower-case letters, digits, ".", "_" and "-", for example --name my-server.`,
  );
}

/** Throws if a folder exists and has files other than those of Git. @param {string} folder */
function checkFolder(folder) {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw new CreateError(`${folder} is a file. Choose another folder.`);
  const found = readdirSync(folder).filter((name) => name !== ".git");
  if (found.length === 0) return;
  const shown = found.slice(0, 3).join(", ");
  throw new CreateError(
    `${folder} is not empty: it has ${shown}${found.length > 3 ? ", ..." : ""}. Choose another folder.`,
  );
}

/** Returns the files of a template. @param {string} template */
function filesOf(template) {
  const folder = path.join(templates, template);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(path.join(folder, name)).isFile())
    .toSorted()
    .map((name) => ({ source: path.join(folder, name), target: renamed.get(name) ?? name }));
}
