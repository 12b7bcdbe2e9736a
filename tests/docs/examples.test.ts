import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";

interface Example {
  /** The source file and the line of its `@example`: `server/features/tools.ts:12`. */
  label: string;
  code: string;
  /** The name of the generated file. */
  name: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = path.join(root, "node_modules/typescript/bin/tsc");
/** Inside the workspace of the tests, so that the examples find the packages that a user has installed. */
const generated = fileURLToPath(new URL("../types/.generated/examples/", import.meta.url));
const examples = ["packages/mcparley/src", "packages/redis/src"].flatMap(examplesIn);

describe("every example of a docstring compiles as a separate program", () => {
  let complaints: string[] = [];

  beforeAll(() => {
    complaints = compile();
    return () => rmSync(generated, { recursive: true, force: true });
  });

  test.each(examples)("$label", ({ name }) => {
    expect(complaints.filter((line) => line.startsWith(name))).toEqual([]);
  });
});

/** Returns the examples of all docstrings in a folder. Each `@example` must be followed by a fenced block. */
function examplesIn(folder: string): Example[] {
  const files = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(path.join(root, folder, file), "utf8");
      return [...text.matchAll(/^ *\* @example\n/gm)].map(({ index, 0: tag }) => {
        const label = `${file.split(path.sep).join("/")}:${text.slice(0, index).split("\n").length}`;
        const fence = /^ *\* ```ts\n((?: *\*(?!\/).*\n)*?) *\* ```\n/.exec(text.slice(index + tag.length));
        if (!fence?.[1]) throw new Error(`${label}: @example needs a block of \`\`\`ts on the next line.`);
        const code = fence[1].replaceAll(/^ *\* ?/gm, "");
        return { label, code, name: `${label.replaceAll(/\W/g, "-")}.ts` };
      });
    });
}

/** Compiles all examples at once. Returns the lines that the compiler printed. */
function compile(): string[] {
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated, { recursive: true });
  for (const { name, code } of examples) writeFileSync(path.join(generated, name), code);
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
    module: "NodeNext",
    moduleDetection: "force",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
  };
  writeFileSync(path.join(generated, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  try {
    execFileSync(process.execPath, [tsc, "-p", "tsconfig.json", "--pretty", "false"], { cwd: generated });
    return [];
  } catch (error) {
    return String((error as { stdout: Buffer }).stdout).split("\n");
  }
}
