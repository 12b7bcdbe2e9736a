import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { compilePrograms } from "../support/compile-programs.mjs";

interface Example {
  /** The source file and the line of its `@example`: `packages/mcparley/src/otel/telemetry.ts:12`. */
  label: string;
  code: string;
  /** The path of the generated file. */
  file: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Inside the workspace of the tests, so that the examples find the packages that a user has installed. */
const generated = fileURLToPath(new URL("../types/.generated/examples/", import.meta.url));
const examples = ["packages/mcparley/src", "packages/redis/src", "packages/config/src", "packages/host/src"].flatMap(
  examplesIn,
);

test("at least 25 docstrings have an example", () => {
  expect(examples.length).toBeGreaterThanOrEqual(25);
});

describe("every example of a docstring compiles as a program of its own", () => {
  let errorsOf: (file: string) => string[];

  beforeAll(() => {
    rmSync(generated, { recursive: true, force: true });
    mkdirSync(generated, { recursive: true });
    for (const { file, code } of examples) writeFileSync(file, code);
    ({ errorsOf } = compilePrograms(generated));
    return () => rmSync(generated, { recursive: true, force: true });
  });

  test.each(examples)("$label", ({ file }) => {
    expect(errorsOf(file)).toEqual([]);
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
        const label = `${[folder, ...file.split(path.sep)].join("/")}:${text.slice(0, index).split("\n").length}`;
        const fence = /^ *\* ```ts\n((?: *\*(?!\/).*\n)*?) *\* ```\n/.exec(text.slice(index + tag.length));
        if (!fence?.[1]) throw new Error(`${label}: @example needs a block of \`\`\`ts on the next line.`);
        const code = fence[1].replaceAll(/^ *\* ?/gm, "");
        return { label, code, file: path.join(generated, `${label.replaceAll(/\W/g, "-")}.ts`) };
      });
    });
}
