// @ts-check
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const programs = fileURLToPath(new URL("./declarations/", import.meta.url));

/** The ways to resolve modules, with the kind of module that each needs. */
const resolutions = { nodenext: "nodenext", node16: "node16", bundler: "esnext" };

/**
 * Makes a project in which `mcparley` is installed as a user has it: a copy of the published declarations, since the compiler can name any file of a linked
 * package. Returns its programs, one for each entry point.
 *
 * @param {string} folder a folder below the repository, whose other packages the programs resolve
 */
export function makeProject(folder) {
  rmSync(folder, { recursive: true, force: true });
  const installed = path.join(folder, "node_modules/mcparley");
  mkdirSync(installed, { recursive: true });
  const library = path.join(root, "packages/mcparley");
  cpSync(path.join(library, "package.json"), path.join(installed, "package.json"));
  const dist = path.join(library, "dist");
  const excluded = new Set(readFileSync(path.join(dist, ".npmignore"), "utf8").split("\n"));
  const isExcluded = (/** @type {string} */ file) =>
    excluded.has(`/${path.relative(dist, file).split(path.sep).join("/")}`);
  cpSync(dist, path.join(installed, "dist"), {
    recursive: true,
    filter: (file) => !/\.(js|map|tsbuildinfo)$/.test(file) && !isExcluded(file),
  });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const files = readdirSync(programs).filter((name) => name.endsWith(".ts"));
  for (const file of files) cpSync(path.join(programs, file), path.join(folder, file));
  return files.map((file) => ({
    entry: file.replace(/\.ts$/, ""),
    file,
    text: readFileSync(path.join(programs, file), "utf8"),
  }));
}

/**
 * Compiles programs with their declarations. Returns the compiler's errors, or an empty text. Programs that are compiled
 * together can name the types of all entry points among them. The declarations of the library are checked as well, which takes
 * most of the time, unless `isLibraryChecked` is false.
 *
 * @param {string} tsc
 * @param {{
 *   folder: string;
 *   entries: readonly string[];
 *   resolution: keyof typeof resolutions;
 *   types?: readonly string[];
 *   isLibraryChecked?: boolean;
 * }} given
 */
export function compileDeclarations(tsc, { folder, entries, resolution, types = ["node"], isLibraryChecked = true }) {
  const out = path.join(folder, "types", `${resolution}-${entries.join("-")}`);
  mkdirSync(out, { recursive: true });
  const compilerOptions = {
    strict: true,
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    module: resolutions[resolution],
    moduleResolution: resolution,
    declaration: true,
    emitDeclarationOnly: true,
    skipLibCheck: !isLibraryChecked,
    types,
    rootDir: "../..",
    outDir: ".",
  };
  const config = path.join(out, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ compilerOptions, files: entries.map((entry) => `../../${entry}.ts`) }));
  const { stdout, stderr, status } = spawnSync(process.execPath, [tsc, "-p", config, "--pretty", "false"], {
    encoding: "utf8",
    cwd: folder,
  });
  return status === 0 ? "" : `${stdout}${stderr}` || `The compiler ended with ${status}.`;
}
