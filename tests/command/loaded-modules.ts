import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const recorder = pathToFileURL(path.join(import.meta.dirname, "record-modules.mjs")).href;
/** The root folder of the repository. */
const root = fileURLToPath(new URL("../..", import.meta.url));

interface Loaded {
  /** The exit code of the process. */
  code: number | null;
  /** Its stdout and stderr. */
  output: string;
  /** The loaded files of this repository and its packages, relative to its root. Modules of Node are left out. */
  files: string[];
}

/** Runs Node with arguments, and returns the modules that the process loaded. */
export async function runAndRecord(...args: readonly string[]): Promise<Loaded> {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-modules-"));
  const file = path.join(folder, "modules");
  try {
    const child = spawn(process.execPath, ["--import", recorder, ...args], {
      cwd: path.join(root, "tests"),
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        XDG_STATE_HOME: folder,
        XDG_CONFIG_HOME: folder,
        MODULES_FILE: file,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    const [code] = (await once(child, "close")) as [number | null];
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    const files = lines.map((line) => (line.startsWith("file:") ? fileURLToPath(line) : line)).filter(isRecorded);
    return {
      code,
      output,
      files: [...new Set(files)].map((one) => path.relative(root, one).replaceAll(path.sep, "/")),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a program that is given as text. */
export function runProgram(code: string): Promise<Loaded> {
  return runAndRecord("--input-type=module", "--eval", code);
}

function isRecorded(file: string): boolean {
  return path.isAbsolute(file) && file !== fileURLToPath(recorder) && !file.includes(`${path.sep}[eval`);
}
