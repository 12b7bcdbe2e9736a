import { type Document, LineCounter, type YAMLMap, isMap, isScalar, parseDocument } from "yaml";
import { type ConfigFormat, type Path, SyntaxProblem } from "./format.ts";
import { withoutMark } from "./positions.ts";
import { editYaml, pairOf } from "./yaml-edit.ts";

/** YAML, edited by its lines, because a document that the library writes differs in white space and line breaks. */
export const yamlFormat: ConfigFormat = {
  parse(source) {
    const { document, lines, value } = parseYaml(withoutMark(source));
    return {
      value: value ?? {},
      positionOf(path) {
        const offset = offsetOf(document, path);
        if (offset === undefined) return undefined;
        const { line, col } = lines.linePos(offset);
        return { line, column: col };
      },
    };
  },
  edit(source, change) {
    const text = withoutMark(source);
    return source.slice(0, source.length - text.length) + editYaml(text, parseYaml(text).document, change);
  },
};

function parseYaml(text: string): { document: Document.Parsed; lines: LineCounter; value: unknown } {
  const lines = new LineCounter();
  try {
    // The check for unique keys takes quadratic time. `findDuplicate` replaces it.
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
    const [error] = document.errors;
    if (error) throw syntaxProblem(lines, error.pos[0], reasons.get(error.code) ?? "the YAML is invalid");
    const duplicate = isMap(document.contents) && findDuplicate(document.contents);
    if (duplicate) throw syntaxProblem(lines, duplicate.offset, "a key occurs twice");
    return { document, lines, value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    if (error instanceof SyntaxProblem) throw error;
    if (error instanceof RangeError) throw new SyntaxProblem("The file is nested too deeply.", undefined);
    throw new SyntaxProblem("The file is not valid YAML.", undefined);
  }
}

/** Descriptions of the errors. The messages of the library repeat text of the file, which can be secret. */
const reasons: ReadonlyMap<string, string> = new Map([
  ["BAD_ALIAS", "an alias is invalid"],
  ["BAD_INDENT", "the indentation is invalid"],
  ["BAD_SCALAR_START", "a value starts with a reserved character"],
  ["BAD_DQ_ESCAPE", "a string has an invalid escape"],
  ["BLOCK_AS_IMPLICIT_KEY", "a key contains a block"],
  ["MISSING_CHAR", "a quote, bracket, colon or space is missing"],
  ["MULTILINE_IMPLICIT_KEY", "a key has several lines, or a colon is missing"],
  ["MULTIPLE_DOCS", "the file has more than one document"],
  ["TAB_AS_INDENT", "a tab is used as indentation"],
  ["UNEXPECTED_TOKEN", "a token is not expected here"],
]);

function syntaxProblem(lines: LineCounter, offset: number, reason: string): SyntaxProblem {
  const { line, col } = lines.linePos(offset);
  return new SyntaxProblem(`The file is not valid YAML: ${reason}.`, { line, column: col });
}

/** Returns the offset of a key that occurs twice in the root or in a table of the root. */
function findDuplicate(root: YAMLMap): { offset: number } | undefined {
  for (const map of [root, ...root.items.map(({ value }) => value).filter((value) => isMap(value))]) {
    const keys = new Set<unknown>();
    for (const { key } of map.items) {
      if (isScalar(key) && keys.has(key.value)) return { offset: key.range?.[0] ?? 0 };
      if (isScalar(key)) keys.add(key.value);
    }
  }
  return undefined;
}

function offsetOf(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const key of path) {
    const pair = pairOf(node, key);
    if (!pair) return undefined;
    offset = (isScalar(pair.key) && pair.key.range?.[0]) || 0;
    node = pair.value;
  }
  return offset;
}
