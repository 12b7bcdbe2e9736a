import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Liquid, LiquidError } from "liquidjs";
import { isShown, partsBelow } from "../files/inside-folder.ts";
import { PlacedMark } from "./placed-mark.ts";
import { FolderProblem } from "../yaml/problem.ts";
import { readContents } from "../files/read-contents.ts";

/** Maximum number of characters of one template with its includes. */
const templateLimit = 1_000_000;
/** Maximum duration of one rendering in milliseconds. */
const timeLimit = 2000;
/** Maximum number of characters that filters and loops of one rendering may produce. */
const memoryLimit = 20_000_000;

/**
 * Creates the template engine of a folder.
 *
 * Templates can only use the arguments of their prompt, and can only include partials: files below `prompts/` that end in
 * `.liquid` and are not hidden. An unknown name is an error and never an empty text.
 */
export function promptEngine(folder: string): Liquid {
  const root = resolve(folder, "prompts");
  const engine = new Liquid({
    root: [root],
    extname: partialEnding,
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

/** The source of a template, for the position of an error. */
export interface TemplateOrigin {
  folder: string;
  /** Relative to the folder. */
  file: string;
  /** The whole file, or a text with the same lines. */
  source: string;
}

/** Converts a template error to a problem at its position in the file. Returns any other error unchanged. */
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
  const includedParts = error.token.file === undefined ? undefined : partsBelow(folder, error.token.file);
  const cure = "Correct the template: it is Liquid, see https://liquidjs.com/tutorials/intro-to-liquid.html";
  const place = { file: includedParts?.join("/") ?? file, line, column };
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

const partialEnding = ".liquid";

function isPartial(root: string, path: string): boolean {
  return path.endsWith(partialEnding) && (partsBelow(root, path)?.every(isShown) ?? false);
}

/**
 * The file access of templates, limited to partials below the root, by their path and their real path. An argument of a
 * caller can be the name of a template, so no other file of the folder can be named.
 */
function partialFiles(root: string): TemplateFiles {
  const realPartial = async (path: string): Promise<string | undefined> => {
    if (!isPartial(root, path)) return undefined;
    const [top, real] = await Promise.all([root, path].map((part) => realpath(part).catch(() => undefined)));
    return top !== undefined && real !== undefined && isPartial(top, real) ? real : undefined;
  };
  return {
    sep: "/",
    dirname,
    resolve: (folder, file, ending) => resolve(folder, /\.\w+$/.test(file) ? file : file + ending),
    contains: async (_, path) => (await realPartial(path)) !== undefined,
    exists: async (path) => (await realPartial(path)) !== undefined,
    readFile: async (path) => {
      const real = await realPartial(path);
      const contents = real === undefined ? undefined : await readContents(real, templateLimit);
      if (contents && "text" in contents) return contents.text;
      throw new Error(`"${path}" is not a text file`);
    },
    existsSync: neverSync,
    readFileSync: neverSync,
  };
}
