import { positionsIn } from "@mcparley/internal/positions";
import { TomlError, parse } from "smol-toml";
import { type ConfigFormat, type Path, SyntaxProblem } from "./format.ts";
import { withoutMark } from "./positions.ts";
import { editToml } from "./toml-edit.ts";
import { type Statement, statementsIn } from "./toml-statements.ts";

/** Maximum number of nested arrays and inline tables. */
const maxDepth = 64;

/** TOML, edited by its sections and pairs, because the library does not write comments. */
export const tomlFormat: ConfigFormat = {
  parse(source) {
    const text = withoutMark(source);
    const value = parseToml(text);
    const position = positionsIn(text);
    let offsets: ReadonlyMap<string, number> | undefined;
    return {
      value,
      positionOf(path) {
        offsets ??= offsetsOf(statementsIn(text));
        // A member of an inline table has the position of the table.
        for (let length = path.length; length > 0; length--) {
          const offset = offsets.get(keyOf(path.slice(0, length)));
          if (offset !== undefined) return position(offset);
        }
        return undefined;
      },
    };
  },
  edit(source, change) {
    const text = withoutMark(source);
    return source.slice(0, source.length - text.length) + editToml(text, parseToml(text), change);
  },
};

function parseToml(text: string): unknown {
  try {
    // With integers as bigint, a float such as 1.0 keeps its type if its table is written again.
    return parse(text, { integersAsBigInt: true, maxDepth });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    throw new SyntaxProblem(`The file is not valid TOML: ${reasonOf(error)}.`, { line, column });
  }
}

/** Returns the reason without text of the file, which can be secret: the library repeats some lines of the file, and wrong numbers. */
function reasonOf(error: TomlError): string {
  const [message = ""] = error.message.replace("Invalid TOML document: ", "").split("\n");
  const isKnown =
    /^(?:control characters|each key-value|expected|illegal|incomplete|trying to|unfinished|unrecognised) ?[a-z -]*/;
  return isKnown.exec(message)?.[0].trim() ?? "a value is invalid";
}

/** Deeper keys have the position of their table. It bounds the size of the index for long dotted keys. */
const indexedDepth = 6;

function offsetsOf(statements: readonly Statement[]): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  for (const { path, start } of statements) {
    for (let length = 1; length <= Math.min(path.length, indexedDepth); length++) {
      const key = keyOf(path.slice(0, length));
      if (!offsets.has(key)) offsets.set(key, start);
    }
  }
  return offsets;
}

function keyOf(path: Path): string {
  return JSON.stringify(path.map(String));
}
