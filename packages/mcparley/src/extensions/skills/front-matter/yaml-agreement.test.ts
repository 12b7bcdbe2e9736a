import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { FrontMatterError } from "./front-matter-error.ts";
import { readFrontMatter } from "./read-front-matter.ts";

/** What a full YAML reader makes of it; undefined where it refuses it. */
function reference(yaml: string): unknown {
  const document = parseDocument(yaml, { prettyErrors: false });
  return document.errors.length > 0 ? undefined : (JSON.parse(JSON.stringify(document.toJS() ?? {})) as unknown);
}

function ours(yaml: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(JSON.stringify(readFrontMatter(`---\n${yaml}\n---\nbody`).frontmatter)) as unknown };
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
];

// A line --- ends the front matter.
const yamls = fc
  .array(fc.constantFrom(...atoms), { maxLength: 24 })
  .map((parts) => `a: ${parts.join("")}`)
  .filter((yaml) => !/^---/m.test(yaml));

test("what is accepted means the same to a full YAML reader", () => {
  let accepted = 0;
  fc.assert(
    fc.property(yamls, (yaml) => {
      const read = ours(yaml);
      if (!read) return;
      accepted++;
      expect(read.value).toEqual(reference(`${yaml}\n`));
    }),
    { numRuns: 20_000 },
  );
  expect(accepted).toBeGreaterThan(1000);
});

const plainText = fc.stringMatching(/^[a-zA-Z][\w .,;!()/-]{0,60}$/).filter((text) => !text.endsWith(" "));

test("what people write is accepted", () => {
  const frontMatter = fc.record({ name: plainText, description: plainText, license: plainText });
  fc.assert(
    fc.property(frontMatter, fc.constantFrom("plain", "quoted", "folded"), ({ name, description, license }, form) => {
      const written =
        form === "quoted" ? JSON.stringify(description) : form === "folded" ? `>-\n  ${description}` : description;
      const yaml = `name: "${name}"\n# a comment\ndescription: ${written}\nmetadata:\n  license: "${license}"`;
      expect(ours(yaml)).toEqual({ value: reference(`${yaml}\n`) });
    }),
  );
});
