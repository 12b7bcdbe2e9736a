import fc from "fast-check";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { readFrontMatter } from "./front-matter.ts";
import { FrontMatterError } from "./yaml.ts";

/** Parses the text with two complete YAML readers. The value is undefined for a reader that refuses the text. */
function references(yaml: string): unknown[] {
  const document = parseDocument(yaml, { prettyErrors: false });
  return [
    document.errors.length > 0 ? undefined : plain(document.toJS() ?? {}),
    attempt(() => plain(load(yaml) ?? {})),
  ];
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function ours(yaml: string): { value: unknown } | undefined {
  try {
    return { value: plain(readFrontMatter(`---\n${yaml}\n---\nbody`).frontmatter) };
  } catch (error) {
    if (error instanceof FrontMatterError) return undefined;
    throw error;
  }
}

const atoms = [
  ...`abcz09 .-:#,[]{}"'|>+~?&*!%@\`\\=<_/é`.split(""),
  "\n",
  "\n  ",
  "\n    ",
  "\n- ",
  "\n  - ",
  ": ",
  " #",
  "key: ",
  "\nb: ",
  "\n  c: ",
  "|\n  ",
  ">-\n  ",
  "null",
  "true",
  "0x1F",
  "1.5",
  "\\u00e9",
  "\n\n",
  " ",
  "\t",
  "- - ",
  "{a: ",
  ", b: ",
  '"x"',
  "]",
  "}",
  "|+\n  ",
  "\n # c\n",
];

// A line --- ends the front matter.
const yamls = fc
  .array(fc.constantFrom(...atoms), { maxLength: 24 })
  .map((parts) => `a: ${parts.join("")}`)
  .filter((yaml) => !/^---/m.test(yaml));

test("accepted YAML has the same value in two full readers", () => {
  let accepted = 0;
  fc.assert(
    fc.property(yamls, (yaml) => {
      const read = ours(yaml);
      if (!read) return;
      accepted++;
      for (const reference of references(`${yaml}\n`)) expect(read.value).toEqual(reference);
    }),
    { numRuns: 20_000 },
  );
  expect(accepted).toBeGreaterThan(1000);
});

const plainText = fc.stringMatching(/^[a-zA-Z][\w .,;!()/-]{0,60}$/).filter((text) => !text.endsWith(" "));

test("accepts common ways to write front matter", () => {
  const frontMatter = fc.record({ name: plainText, description: plainText, license: plainText });
  fc.assert(
    fc.property(frontMatter, fc.constantFrom("plain", "quoted", "folded"), ({ name, description, license }, form) => {
      const written =
        form === "quoted" ? JSON.stringify(description) : form === "folded" ? `>-\n  ${description}` : description;
      const yaml = `name: "${name}"\n# a comment\ndescription: ${written}\nmetadata:\n  license: "${license}"`;
      for (const value of references(`${yaml}\n`)) expect(ours(yaml)).toEqual({ value });
    }),
  );
});
