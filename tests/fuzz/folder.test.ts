import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { codeModules } from "../../packages/cli/src/serve/tools/code-modules.ts";
import { fillArguments, fillText, placeholdersIn } from "../../packages/cli/src/serve/tools/command-template.ts";
import { commandTool } from "../../packages/cli/src/serve/tools/command-tool.ts";
import { type PromptScope, filePrompt, splitFrontMatter } from "../../packages/cli/src/serve/prompts/prompt-file.ts";
import { readFrontMatter } from "../../packages/mcparley/src/extensions/skills/front-matter/front-matter.ts";
import { FrontMatterError } from "../../packages/mcparley/src/extensions/skills/front-matter/yaml.ts";
import type { ServedRoot } from "../../packages/cli/src/serve/files/inside-folder.ts";
import { FolderProblem } from "../../packages/cli/src/serve/yaml/problem.ts";
import { promptEngine } from "../../packages/cli/src/serve/prompts/prompt-engine.ts";
import { replaceMarks } from "../../packages/cli/src/serve/prompts/prompt-marks.ts";
import { ScopeRules } from "../../packages/cli/src/serve/settings/scope-rules.ts";
import {
  boolean,
  isList,
  isMapping,
  items,
  members,
  number,
  plain,
  readYaml,
  text,
} from "../../packages/cli/src/serve/yaml/yaml-fields.ts";
import { ToolError } from "mcparley/server";
import { growingOf, textOf } from "./arbitraries/bytes.ts";
import { holds } from "./holds.ts";
import { expectLinearTime } from "../support/linear-time.ts";
import { onlyOwnErrors } from "./own-errors.ts";

const yamlWords = [
  "\n",
  "  ",
  "- ",
  "a: ",
  "b: ",
  ": ",
  "[",
  "]",
  "{",
  "}",
  ",",
  '"',
  "'",
  "|",
  ">",
  "&x ",
  "*x",
  "<<: ",
  "!!map",
  "# ",
  "? ",
  "true",
  "1e999",
  "null",
  "---",
  "...",
  "%YAML 1.2",
  "\t",
  "0x1F",
];
const frontWords = ["---", "\n", "\r\n", "\uFEFF", "title: x", "arguments:", " ", "-"];

/** Reads all of a field in each way that a file's reader could. */
function walk(field: ReturnType<typeof readYaml>, depth = 0): void {
  for (const read of [text, boolean, number, plain, members, items]) {
    try {
      read(field);
    } catch (error) {
      if (!(error instanceof FolderProblem)) throw error;
    }
  }
  if (depth > 5) return;
  if (isMapping(field)) for (const inner of members(field).values()) walk(inner, depth + 1);
  if (isList(field)) for (const inner of items(field)) walk(inner, depth + 1);
}

holds("YAML: any text is read, or rejected with a position and a cure", textOf(...yamlWords), async (source) => {
  const read = await onlyOwnErrors(() => walk(readYaml({ file: "x.yaml", text: source })), FolderProblem);
  if ("error" in read) expect((read.error as FolderProblem).problem.line).toBeGreaterThan(0);
});

holds(
  "YAML: only errors of the library for any length, and in linear time",
  growingOf(...yamlWords),
  (growing) =>
    expectLinearTime(growing, (source) =>
      onlyOwnErrors(() => plain(readYaml({ file: "x.yaml", text: source })), FolderProblem),
    ),
  { runs: 10 },
);

holds(
  "front matter: any text is split without a loss or rejected, in linear time",
  fc.tuple(textOf(...frontWords), growingOf(...frontWords)),
  async ([source, growing]) => {
    const split = await onlyOwnErrors(() => splitFrontMatter("x.md", source), FolderProblem);
    const lines = source.replace(/^\uFEFF/, "").split(/\r?\n/);
    if ("value" in split) expect(split.value.body).toBe(lines.slice(split.value.bodyLine - 1).join("\n"));
    await expectLinearTime(growing, (long) => onlyOwnErrors(() => splitFrontMatter("x.md", long), FolderProblem));
  },
  { runs: 20 },
);

holds(
  "YAML of skills: any text is read, or rejected with its line and a cure, in linear time",
  fc.tuple(textOf(...yamlWords), growingOf(...yamlWords)),
  async ([source, growing]) => {
    const read = await onlyOwnErrors(() => readFrontMatter(`---\n${source}\n---\n`), FrontMatterError);
    if ("error" in read) expect((read.error as FrontMatterError).line).toBeGreaterThan(0);
    // Up to the longest front matter that is read. It has the tail and an even number of units, such as quotes, as shorter ones.
    const { head, unit, tail } = growing;
    const most = Math.floor((65_530 - head.length - tail.length) / (2 * unit.length)) * 2;
    const longest = head + unit.repeat(most) + tail;
    await expectLinearTime(growing, (long) => {
      const text = long.length > longest.length ? longest : long;
      return onlyOwnErrors(() => readFrontMatter(`---\n${text}\n---\n`), FrontMatterError);
    });
  },
  { runs: 10 },
);

const markWords = [
  "<!-- role: ",
  "user",
  "system",
  " -->",
  "\n",
  "![a](b.md)",
  "[",
  "](",
  ")",
  "{{ a }}",
  "{% raw %}",
  "{% endraw %}",
  "```",
  "~~~",
  "<",
  ">",
  ' "',
  "!",
  " ",
];

holds(
  "prompts: marks are found in linear time",
  growingOf(...markWords),
  (growing) =>
    expectLinearTime(growing, (body) =>
      onlyOwnErrors(() => replaceMarks(body, { file: "x.md", firstLine: 1 }, () => ""), FolderProblem),
    ),
  { runs: 20 },
);

let folder: string;
let scope: PromptScope;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "mcparley-fuzz-"));
  await mkdir(path.join(folder, "prompts"));
  const rootOf = (name: string): ServedRoot => ({ name, path: path.join(folder, name), real: path.join(folder, name) });
  scope = {
    folder,
    scheme: "fuzz",
    roots: [rootOf("resources")],
    prompts: rootOf("prompts"),
    engine: promptEngine(folder),
    fileSize: 1_000_000,
    rules: new ScopeRules([]),
    modules: codeModules(folder),
    filesIn: () => [],
  };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const declared = [
  "arguments:",
  "\n",
  "\n  a:",
  " {values: [x]}",
  " {complete: ./%.ts}",
  " {complete: ../resources/*.md}",
  " {complete: [a]}",
  "title: T",
  "description: >",
  "icons:",
  " [{src: 'https://x/i.png'}]",
  " {required: true}",
];
const bodyWords = [
  ...markWords,
  "{% if a %}",
  "{% endif %}",
  "{% for x in a %}",
  "{% endfor %}",
  "{% include 'x' %}",
  "{{ a | upcase }}",
  "{{",
  "}}",
  "{%",
  "%}",
  "| nope",
  "[x](%)",
  "![x](../resources/%.md)",
];

holds(
  "prompts: any file is a prompt, or rejected with the reason",
  fc.tuple(textOf(...declared, ...yamlWords), textOf(...bodyWords), fc.boolean()),
  async ([front, body, fenced]) => {
    const source = fenced ? `---\n${front}\n---\n${body}` : body;
    await onlyOwnErrors(() => filePrompt("prompts/x.md", source, scope), FolderProblem);
  },
);

const commandWords = [
  "command: [echo, '{{a}}']",
  "command: ",
  "[echo]",
  "\n",
  "input:",
  "\n  properties: {a: {type: string}}",
  "output: json",
  "timeout: 5s",
  "cwd: ..",
  "env: {A: ''}",
  "exitCodes: [0]",
  "annotations: {readOnlyHint: true}",
  "stdin: '{{a}}'",
];

holds(
  "command tools: any file is a tool, or rejected with the reason",
  textOf(...commandWords, ...yamlWords),
  async (source) => {
    await onlyOwnErrors(() => commandTool("tools/x.yaml", source, { folder, env: {} }), FolderProblem);
  },
);

const templateWords = ["{{a}}", "{{ b }}", "{{", "}}", "{{a", "-", "--", " ", "\0", "x"];

holds(
  "command templates: no value becomes an option, a second argument or a loss, in linear time",
  fc.tuple(
    fc.array(textOf(...templateWords), { maxLength: 5 }),
    fc.string({ maxLength: 5 }),
    growingOf(...templateWords),
  ),
  async ([elements, value, growing]) => {
    const filling = { values: { a: value }, options: new Set<string>() };
    const filled = await onlyOwnErrors(() => fillArguments(elements, filling), ToolError);
    if ("value" in filled) {
      const taken = elements.filter((element) => placeholdersIn(element).every((name) => name === "a"));
      expect(filled.value).toHaveLength(taken.length);
      for (const [index, argument] of filled.value.entries()) {
        const written = taken[index] ?? "";
        const afterOptions = taken.slice(0, index + 1).includes("--");
        if (argument.startsWith("-") && !afterOptions) expect(written).toMatch(/^-/);
      }
    }
    await expectLinearTime(growing, (template) => fillText(template, filling.values));
  },
  { runs: 20 },
);
