import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { pagesOfDocs } from "../../scripts/guides.mjs";
import { publishedPackages } from "../../scripts/packages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Inside the workspace of the tests, so that the samples find the packages that a reader has installed. */
export const generated: string = fileURLToPath(new URL("./.generated/", import.meta.url));

export interface Sample {
  /** The document and the sample's file name: `tools.md sample-2.ts`. */
  label: string;
  file: string;
  code: string;
  /** The expected output: one entry for each `console.log` with a comment that starts with an arrow. */
  printed: string[];
  /** Whether each `console.log` of the sample has such a comment, so that it prints nothing else. */
  printsNothingElse: boolean;
  /**
   * Whether the sample is only compiled: its fence is marked as `ts compile`. For samples that need a service, such as a
   * database or a server on the web.
   */
  compilesOnly: boolean;
  /** The line of the document on which the sample begins. */
  line: number;
}

export interface CommandSample {
  label: string;
  command: string;
}

/** The documents whose samples are run. */
export function documents(): string[] {
  const readmes = publishedPackages().map(({ folder }) => path.join(folder, "README.md"));
  return [
    "README.md",
    "site/home.md",
    "site/llms.md",
    ...readmes,
    ...pagesOfDocs().map((name) => path.join("docs", name)),
  ];
}

/**
 * Writes each TypeScript sample of a document to a separate file, in one folder for the document. Samples that are marked as
 * `ts other` use another library: `npm run check -- compare` compiles them. Those that are marked as `ts example` are files of
 * `examples/`: `npm run check -- frameworks` runs them. `into` is the folder of all documents.
 */
export function extractSamples(document: string, into: string = generated): Sample[] {
  const folder = path.join(into, document.replace(/\.md$/, ""));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const ours = fences(document, "ts").filter(({ mark }) => mark !== "other" && mark !== "example");
  return ours.map(({ code, line, mark }, index) => {
    const name = /^\/\/ ([\w.-]+\.ts)\n/.exec(code)?.[1] ?? `sample-${index + 1}.ts`;
    const file = path.join(folder, name);
    writeFileSync(file, code);
    const printed = [...code.matchAll(/console\.log\(.*\);\s*\/\/ → (.*)$/gm)].map(([, text = ""]) => text);
    const printsNothingElse = printed.length === code.split("console.log(").length - 1;
    const label = `${labelOf(document)} ${name}`;
    return { label, file, code, printed, printsNothingElse, compilesOnly: mark === "compile", line };
  });
}

/** The lines of a document's shell samples that run our own command. */
export function commandSamples(document: string): CommandSample[] {
  return fences(document, "sh").flatMap(({ code }) =>
    code
      .replaceAll("\\\n", " ")
      .split("\n")
      .filter((line) => /^(npx )?mcparley /.test(line))
      .map((command) => ({ label: `${labelOf(document)}: ${command}`, command })),
  );
}

/** The path of a document, without the folder of the guides. */
function labelOf(document: string): string {
  return document.replace(/^docs\//, "");
}

/** The code blocks of a language. `mark` is the word after the language: `compile` or `other`. */
function fences(document: string, language: string): { code: string; line: number; mark: string | undefined }[] {
  const text = readFileSync(path.join(root, document), "utf8");
  const pattern = new RegExp(`^\`\`\`${language}(?: (\\w+))?\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...text.matchAll(pattern)].map((match) => ({
    mark: match[1],
    code: match[2] ?? "",
    line: text.slice(0, match.index).split("\n").length + 1,
  }));
}
