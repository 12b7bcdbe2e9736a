import { describe, expect, test } from "vitest";
import { listFunctions } from "../../scripts/house/functions.mjs";
import { measure } from "../../scripts/house/measures.mjs";
import { publicNames } from "../../scripts/house/public-names.mjs";
import { joinStacks, readStack, spineOf } from "../../scripts/house/spine.mjs";
import { parseSource } from "../../scripts/house/syntax.mjs";

const isEntry = (name: string): boolean => !name.includes("/");

function measured(files: Record<string, string>): ReturnType<typeof measure> {
  return measure(
    Object.entries(files).map(([name, text]) => parseSource(name, text)),
    isEntry,
  );
}

describe("imports", () => {
  test("distinguishes static, lazy and type imports, and lists the imported names", () => {
    const { imports } = parseSource(
      "a/b.ts",
      `import { c, type D } from "./c.ts";
       import type { E } from "../e.ts";
       import * as all from "node:fs";
       export { f } from "../f.ts";
       type G = import("./g.ts").G;
       const { h } = await import("./h.ts");
       const i = (await import("./i.ts")).one;
       const j = import("./j.ts").then(({ two, three }) => two(three));
       const k = import("./k.ts");`,
    );
    expect(imports).toEqual([
      { from: "a/c.ts", kind: "static", names: ["c", "D"] },
      { from: "e.ts", kind: "type", names: ["E"] },
      { from: "node:fs", kind: "static", names: "all" },
      { from: "f.ts", kind: "static", names: ["f"] },
      { from: "a/g.ts", kind: "type", names: ["G"] },
      { from: "a/h.ts", kind: "lazy", names: ["h"] },
      { from: "a/i.ts", kind: "lazy", names: ["one"] },
      { from: "a/j.ts", kind: "lazy", names: ["two", "three"] },
      { from: "a/k.ts", kind: "lazy", names: "all" },
    ]);
  });

  test("ignores text and comments that look like an import", () => {
    const { imports } = parseSource("a.ts", `const text = 'import "./b.ts"'; // import("./c.ts")`);
    expect(imports).toEqual([]);
  });
});

describe("functions", () => {
  test("lists functions that only their own file can use, with the number of their uses", () => {
    const facts = listFunctions(
      parseSource(
        "a.ts",
        `export function shown() { once(); twice(); twice(); }
         function once() {}
         function twice() {}
         const arrow = () => shown();
         export class Thing {
           #hidden() {}
           open() { this.#hidden(); arrow(); }
         }`,
      ),
    );
    expect(facts.map(({ name, isPrivate, uses }) => [name, isPrivate, isPrivate ? uses : undefined])).toEqual([
      ["shown", false, undefined],
      ["once", true, 1],
      ["twice", true, 2],
      ["arrow", true, 1],
      ["#hidden", true, 1],
      ["open", false, undefined],
    ]);
  });

  test("counts the lines of a function without comments and blank lines", () => {
    const [facts] = listFunctions(
      parseSource("a.ts", "function f() {\n  // why\n\n  /* more\n     lines */\n  return 1;\n}\n"),
    );
    expect(facts).toMatchObject({ span: 7, lines: 3 });
  });

  test("counts the parameters of a function without `this`", () => {
    const facts = listFunctions(parseSource("a.ts", "function f(this: Date, a: 1, { b, c }: any, ...d: 1[]) {}"));
    expect(facts[0]?.parameters).toBe(3);
  });
});

describe("measures", () => {
  test("counts casts without `as const`, and counts `any` separately", () => {
    const { castsPerThousand, anyPerThousand } = measured({
      "a.ts": "const a = [1] as const;\nconst b = a as unknown as any;\n",
    });
    expect({ castsPerThousand, anyPerThousand }).toEqual({ castsPerThousand: 1000, anyPerThousand: 500 });
  });

  test("measures the largest folder and the lines of all files", () => {
    const { files, lines, largestFolder } = measured({
      "a/one.ts": "1;\n",
      "a/two.ts": "1;\n2;\n3;\n",
      "b/three.ts": "1;\n2;\n3;\n4;\n5;\n",
    });
    expect({ files, lines }).toEqual({ files: 3, lines: 9 });
    expect(largestFolder).toEqual({ name: "a", files: 2 });
  });

  test("lists circles of files, the largest first, and the lines of functions", () => {
    const { circles, medianFunction, longestTenth } = measured({
      "a.ts": 'import { b } from "./b.ts";\nexport function a() {\n  b();\n}\n',
      "b.ts": 'import { c } from "./c.ts";\nexport function b() {\n  c();\n  c();\n}\n',
      "c.ts": 'import type { a } from "./a.ts";\nexport const c = () => import("./d.ts");\nexport type A = typeof a;\n',
      "d.ts": 'import type { e } from "./e.ts";\nexport type D = typeof e;\n',
      "e.ts": 'import { D } from "./d.ts";\nexport const e: D = 1;\n',
    });
    expect(circles).toEqual([
      ["a.ts", "b.ts", "c.ts"],
      ["d.ts", "e.ts"],
    ]);
    expect({ medianFunction, longestTenth }).toEqual({ medianFunction: 4, longestTenth: 4 });
  });

  test("lists declared names that are a participle, an adverb or a preposition alone", () => {
    const { bareNames, bareNamesShare } = measured({
      "a.ts":
        "export function given({ a: sent, seed }: Wanted, ...[rest = 1]: D) { for (const shownAt of at) shownAt(); }\n" +
        "interface Held { kept: 1; feed(before: 2): 3 }\n",
    });
    expect(bareNames).toEqual(["a.ts given", "a.ts sent", "a.ts rest", "a.ts kept", "a.ts before"]);
    expect(bareNamesShare).toBe(55.6);
  });

  test("lists a file with one importer of any kind, except an entry point", () => {
    const { oneImporter } = measured({
      "index.ts": 'export { b } from "./a/b.ts";',
      "server.ts": 'import "./index.ts"; import type { c } from "./a/c.ts";',
      "a/b.ts": 'export const b = () => import("./c.ts");',
      "a/c.ts": "export const c = 1;",
    });
    expect(oneImporter).toEqual(["a/b.ts"]);
  });

  test("lists an export that no other file imports", () => {
    const { unusedExports } = measured({
      "index.ts": 'export * from "./a/all.ts"; export { b } from "./a/b.ts";',
      "a/all.ts": "export const one = 1;",
      "a/b.ts": 'export const b = () => import("./c.ts").then(({ taken }) => taken); export const own = 1;',
      "a/c.ts": "export const taken = 1; export const left = 2;",
    });
    expect(unusedExports).toEqual(["a/b.ts own", "a/c.ts left"]);
  });

  test("resolves public names to their declarations and docstrings", () => {
    const sources = Object.entries({
      "index.ts": 'export { b as c } from "./a/again.ts"; export type { T } from "./a/t.ts";',
      "a/again.ts": 'import { b } from "./b.ts"; export { b };',
      "a/b.ts":
        "/** Returns 1. @example b() */\nexport function b() { return 1; }\n/** Not public. @example */\nconst x = 1;",
      "a/t.ts": "export interface T {\n  /** @example t.a */\n  a: 1;\n}",
    }).map(([name, text]) => parseSource(name, text));
    expect(publicNames(sources, isEntry).map(({ name, file, isDocumented }) => [name, file, isDocumented])).toEqual([
      ["b", "a/b.ts", true],
      ["T", "a/t.ts", false],
    ]);
  });
});

describe("the path of a request", () => {
  const stack = (...frames: string[]): string => ["Error", ...frames.map((frame) => `    at ${frame}`)].join("\n");
  const folder = "file:///out/src/";
  const read = (text: string): ReturnType<typeof readStack> => readStack(text, folder);

  test("omits frames of other folders", () => {
    const frames = read(
      stack(
        "Object.call (file:///tool.js:1:1)",
        "file:///out/src/a/b.js:3:9",
        "new Call (file:///out/src/a/call.js:4:2)",
        "process.processTicks (node:internal/process:1:2)",
        "async Endpoint.handle (file:///out/src/http/endpoint.js:5:6)",
      ),
    );
    expect(frames).toEqual([
      { file: "http/endpoint.ts", name: "Endpoint.handle", isAsync: true },
      { file: "a/call.ts", name: "new Call", isAsync: false },
      { file: "a/b.ts", name: "", isAsync: false },
    ]);
  });

  test("joins a stack after an await to the frames of its waiting callers", () => {
    const first = read(stack("read (file:///out/src/body.js:1:1)", "handle (file:///out/src/endpoint.js:1:1)"));
    const second = read(stack("call (file:///out/src/tools.js:1:1)", "handle (file:///out/src/endpoint.js:9:1)"));
    expect(joinStacks([first, second]).map(({ name }) => name)).toEqual(["handle", "call"]);
  });

  test("keeps a caller that only returned a promise, although V8 omits its frame", () => {
    const first = read(
      stack("send (file:///out/src/c.js:1:1)", "pass (file:///out/src/b.js:1:1)", "perform (file:///out/src/a.js:1:1)"),
    );
    const second = read(
      stack(
        "fetch (file:///out/src/d.js:1:1)",
        "send (file:///out/src/c.js:2:1)",
        "async perform (file:///out/src/a.js:1:1)",
      ),
    );
    expect(joinStacks([first, second]).map(({ name }) => name)).toEqual(["perform", "pass", "send", "fetch"]);
  });

  test("appends a stack after a callback to the previous stack", () => {
    const first = read(stack("read (file:///out/src/body.js:1:1)", "handle (file:///out/src/endpoint.js:1:1)"));
    const second = read(stack("handle2 (file:///out/src/endpoint.js:9:1)", "file:///out/src/body.js:9:1"));
    const { files, calls, reentries, steps } = spineOf(joinStacks([first, second]));
    expect({ files, calls, reentries }).toEqual({ files: 2, calls: 4, reentries: 1 });
    expect(steps).toEqual([
      { file: "endpoint.ts", calls: ["handle"], isReentry: false },
      { file: "body.ts", calls: ["read", "(callback)"], isReentry: false },
      { file: "endpoint.ts", calls: ["handle2"], isReentry: true },
    ]);
  });
});
