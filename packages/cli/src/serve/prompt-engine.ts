import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Liquid, LiquidError } from "liquidjs";
import { partsBelow } from "./inside-folder.ts";
import { PlacedMark } from "./placed-mark.ts";
import { FolderProblem } from "./problem.ts";
import { readContents } from "./read-contents.ts";

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

/** The problem that a template's error is, at its place in the file that it happened in. */
export function templateProblem(error: unknown, folder: string, file: string): unknown {
  if (!LiquidError.is(error)) return error;
  const { token, originalError, message } = error;
  const [line = 1, column = 1] = token.getPosition();
  const below = token.file === undefined ? undefined : partsBelow(folder, token.file);
  const reason = (originalError?.message ?? message).replace(
    /^ENOENT: Failed to lookup ("[^"]*").*$/s,
    "there is no $1",
  );
  const cure = /^there is no "/.test(reason)
    ? "Templates are looked for in prompts/, with the ending .liquid."
    : "Correct the template: it is Liquid, see https://liquidjs.com/tutorials/intro-to-liquid.html";
  const place = { file: below?.join("/") ?? file, line, column };
  return new FolderProblem({ ...place, message: reason, cure }, { cause: error });
}

type TemplateFiles = NonNullable<NonNullable<ConstructorParameters<typeof Liquid>[0]>["fs"]>;

/** The files that templates may include: those whose real path lies below the root. */
function partialFiles(root: string): TemplateFiles {
  const inside = async (path: string): Promise<string | undefined> => {
    const [top, real] = await Promise.all([root, path].map((part) => realpath(part).catch(() => undefined)));
    return top !== undefined && real !== undefined && partsBelow(top, real) ? real : undefined;
  };
  const never = (): never => {
    throw new Error("Templates are never rendered synchronously.");
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
    existsSync: never,
    readFileSync: never,
  };
}
