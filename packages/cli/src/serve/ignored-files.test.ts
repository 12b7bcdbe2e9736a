import { expect, test } from "vitest";
import { formatProblem } from "./yaml/problem.ts";
import { serveFiles } from "./testing/served-folder.ts";

const tool = 'import { tool } from "mcparley/server";\nexport default tool({ call: () => "ok" });\n';

async function problemsOf(files: Record<string, string | Uint8Array>): Promise<string[]> {
  const { live } = await serveFiles(files);
  return live.problems.map((problem) => formatProblem(problem));
}

test("reports the expected and the ignored entries of a folder with nothing to serve", async () => {
  const [problem, ...more] = await problemsOf({ "README.md": "# Hi", "x.py": "", "src/main.c": "", ".git/config": "" });
  expect(more).toEqual([]);
  expect(problem).toContain(".: there is nothing to serve in this folder; README.md, src/, x.py are ignored");
  expect(problem).toContain("prompts/**/*.md, resources/**, skills/**/SKILL.md");
  expect(problem).toContain("tools/**/*.ts, .js or .yaml");
});

test("reports the expected entries of an empty folder", async () => {
  const [problem] = await problemsOf({});
  expect(problem).toContain(".: there is nothing to serve in this folder — ");
});

test("reports a folder with another name of one that is served, and no file with such a name", async () => {
  expect(await problemsOf({ "tools/t.ts": tool, "Prompt/a.md": "Hi", "skills~": "", "resources.": "" })).toEqual([
    "Prompt/: this folder is ignored — Rename it to prompts/.",
  ]);
});

test("counts ignored names over the limit", async () => {
  const names = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index + 10}.txt`, ""]));
  const [problem] = await problemsOf(names);
  expect(problem).toContain("f15.txt and 24 more are ignored");
});

test("reports scripts in tools/ with the file that would describe them", async () => {
  const problems = await problemsOf({
    "tools/t.ts": tool,
    "tools/run.sh": "",
    "tools/deep/x.py": "",
    "tools/README.md": "",
    "tools/tsconfig.json": "{}",
    "tools/_part.sh": "",
    "tools/t.test.ts": "",
  });
  expect(problems).toEqual([
    "tools/deep/x.py: this file is ignored — Describe it in tools/deep/x.yaml, with `command: [python3, tools/deep/x.py]`, or write a module (.ts, .js).",
    "tools/run.sh: this file is ignored — Describe it in tools/run.yaml, with `command: [sh, tools/run.sh]`, or write a module (.ts, .js).",
  ]);
});

test("reports text files in prompts/, and folders in skills/ without SKILL.md", async () => {
  const problems = await problemsOf({
    "prompts/a.txt": "",
    "prompts/b.md": "Hello",
    "prompts/part.liquid": "",
    "prompts/words.ts": "export default () => [];\n",
    "prompts/picture.png": new Uint8Array([0x89, 0x50]),
    "skills/review/README.md": "",
  });
  expect(problems).toEqual([
    "prompts/a.txt: this file is ignored — A prompt is a Markdown file: rename it to prompts/a.md.",
    "skills/review/: this folder is ignored — A skill has a file SKILL.md: add skills/review/SKILL.md.",
  ]);
});

test("reports a folder with a misspelled name", async () => {
  const problems = await problemsOf({ "tool/t.ts": tool, "Prompts/p.md": "Hello", "resources/a.md": "A" });
  expect(problems).toEqual([
    "Prompts/: this folder is ignored — Rename it to prompts/.",
    "tool/: this folder is ignored — Rename it to tools/.",
  ]);
});

test("does not report a file after it is corrected", async () => {
  const { live } = await serveFiles({ "x.py": "" });
  expect(live.problems).toHaveLength(1);
  const { writeFile, mkdir } = await import("node:fs/promises");
  await mkdir(`${live.folder}/resources`);
  await writeFile(`${live.folder}/resources/a.md`, "A");
  await live.reload(["resources/a.md"]);
  expect(live.contents.settings.roots).toHaveLength(1);
  expect(live.problems).toEqual([]);
});
