import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { type Field, text, wrong } from "../yaml/yaml-fields.ts";

const isWindows = process.platform === "win32";

/** Throws `FolderProblem` if the program cannot be started, so that this is known before the first call. */
export async function requireProgram(
  field: Field,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const program = text(field);
  // The Node that runs the server is used for it.
  if (program === "node") return;
  if (isAbsolute(file)) {
    const state = await stateOf(file, env);
    if (state === "executable") return;
    if (state === "missing") {
      throw wrong(field, `there is no program "${program}"`, "Give a path relative to the folder that is served.");
    }
    const cure = `Run \`chmod +x ${quotedWord(program)}\`, or name the interpreter first, as in [sh, ${program}].`;
    throw wrong(field, `"${program}" is not executable`, cure);
  }
  const path = env.PATH ?? env.Path;
  // Without a PATH the system uses one that is not known here.
  if (path === undefined) return;
  for (const folder of path.split(delimiter)) {
    if (folder !== "" && (await stateOf(join(folder, file), env)) === "executable") return;
  }
  throw wrong(
    field,
    `the program "${program}" is not installed`,
    "Install it, or give its path. It is searched in PATH.",
  );
}

async function stateOf(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<"executable" | "not executable" | "missing"> {
  const endings = isWindows ? ["", ...(env.PATHEXT ?? ".COM;.EXE;.BAT;.CMD").split(";")] : [""];
  let isThere = false;
  for (const ending of endings) {
    const found = await stat(file + ending).catch(() => undefined);
    if (!found?.isFile()) continue;
    isThere = true;
    const isExecutable = await access(file + ending, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return "executable";
  }
  return isThere ? "not executable" : "missing";
}
