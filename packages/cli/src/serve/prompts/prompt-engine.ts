import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Liquid, LiquidError } from "liquidjs";
import { partsBelow } from "../files/inside-folder.ts";
import { PlacedMark } from "./placed-mark.ts";
import { FolderProblem } from "../problem.ts";
import { readContents } from "../files/read-contents.ts";

/** The characters of one template with all that it includes. */
const templateLimit = 1_000_000;
/** Milliseconds that one rendering may take. */
const timeLimit = 2000;
/** Characters that filters and loops of one rendering may make. */
const memoryLimit = 20_000_000;

/**
 * Makes the template engine of a folder.
 *
 * Templates see nothing but the arguments of their prompt, and include nothing but files below `prompts/`. A name that
 * is not known is an error, never an empty text.
 */
export function promptEngine(folder: string): Liquid {
  const root = resolve(folder, "prompts");
  const engine = new Liquid({
    root: [root],
    extname: ".liquid",
    relativeReference: true,
    fs: partialFiles(root),
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    parseLimit: templateLimit,
    renderLimit: timeLimit,
    memoryLimit,
  });
  engine.registerTag(PlacedMark.tag, PlacedMark);
  return engine;
}

/** What a template was made of, for finding the place of an error. */
export interface TemplateOrigin {
  folder: string;
  /** Relative to the folder. */
  file: string;
  /** The whole file, or what stands for it line by line. */
  source: string;
}

/** The problem that a template's error is, at its place in the file that it happened in; any other error as it is. */
export function templateProblem(error: unknown, { folder, file, source }: TemplateOrigin): unknown {
  const reason = reasonOf(error);
  const missing = /^ENOENT: Failed to lookup "([^"]*)"/.exec(reason)?.[1];
  if (missing !== undefined) {
    const line = source.split("\n").findIndex((text) => text.includes(missing)) + 1;
    const cure = "Included templates are files in prompts/ with the ending .liquid.";
    const problem = { file, line: Math.max(1, line), message: `there is no template "${missing}"`, cure };
    return new FolderProblem(problem, { cause: error });
  }
  if (!LiquidError.is(error)) return error;
  const [line = 1, column = 1] = error.token.getPosition();
  const included = error.token.file === undefined ? undefined : partsBelow(folder, error.token.file);
  const cure = "Correct the template: it is Liquid, see https://liquidjs.com/tutorials/intro-to-liquid.html";
  const place = { file: included?.join("/") ?? file, line, column };
  return new FolderProblem({ ...place, message: reason, cure }, { cause: error });
}

function reasonOf(error: unknown): string {
  if (LiquidError.is(error)) return error.originalError?.message ?? error.message;
  return error instanceof Error ? error.message : String(error);
}

type TemplateFiles = NonNullable<NonNullable<ConstructorParameters<typeof Liquid>[0]>["fs"]>;

function neverSync(): never {
  throw new Error("Templates are never rendered synchronously.");
}

/** The files that templates may include: those whose real path lies below the root. */
function partialFiles(root: string): TemplateFiles {
  const inside = async (path: string): Promise<string | undefined> => {
    const [top, real] = await Promise.all([root, path].map((part) => realpath(part).catch(() => undefined)));
    return top !== undefined && real !== undefined && partsBelow(top, real) ? real : undefined;
  };
  return {
    sep: "/",
    dirname,
    resolve: (folder, file, ending) => resolve(folder, /\.\w+$/.test(file) ? file : file + ending),
    contains: async (_, path) => (await inside(path)) !== undefined,
    exists: async (path) => (await inside(path)) !== undefined,
    readFile: async (path) => {
      const real = await inside(path);
      const contents = real === undefined ? undefined : await readContents(real, templateLimit);
      if (contents && "text" in contents) return contents.text;
      throw new Error(`"${path}" is no text file`);
    },
    existsSync: neverSync,
    readFileSync: neverSync,
  };
}
