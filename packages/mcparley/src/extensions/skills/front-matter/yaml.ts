// Not loaded lazily, because `skill` and `readFrontMatter` return their result at once (ADR 22).
import {
  Composer,
  LineCounter,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLMap,
  isMap,
  isScalar,
  isSeq,
} from "yaml";
import type { JsonObject } from "../../../rpc/messages.ts";
import { type Fail, checkTokens } from "./yaml-tokens.ts";

/** An error in the front matter of a `SKILL.md`. */
export class FrontMatterError extends Error {
  override readonly name: string = "FrontMatterError";
  /** The problem, without its line and its cure. */
  readonly reason: string;
  /** How to correct it. Empty if the reason already contains the cure. */
  readonly cure: string;
  /** The line in the whole file, counted from 1. */
  readonly line: number;

  constructor(reason: string, line: number, cure = "") {
    super(`line ${line}: ${reason}.${cure === "" ? "" : ` ${cure}`}`);
    this.reason = reason;
    this.line = line;
    this.cure = cure;
  }
}

interface YamlMapping {
  readonly value: JsonObject;
  /** The line of each key of the outermost mapping. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Longer keys need an explicit `?` (YAML 1.2, section 7.4.2). */
const maxKey = 1000;

/**
 * Reads the part of YAML on whose meaning all readers agree (ADR 22). `firstLine` is the number that the first line has
 * in the file. Takes linear time; the caller bounds the length. Throws `FrontMatterError`.
 */
export function readYaml(yaml: string, firstLine: number): YamlMapping {
  const counter = new LineCounter();
  const lineOf = (offset: number): number => Math.max(1, counter.linePos(offset).line) + firstLine - 1;
  const fail: Fail = (offset, reason, cure) => {
    throw new FrontMatterError(reason, lineOf(offset), cure);
  };
  const tokens = [...new Parser(counter.addNewLine).parse(yaml)];
  checkTokens(yaml, tokens, fail);

  // The library's own search for duplicate keys takes quadratic time.
  const [document] = new Composer({ uniqueKeys: false }).compose(tokens);
  const [error] = document?.errors ?? [];
  if (error) {
    const reason = error.message.charAt(0).toLowerCase() + error.message.slice(1).replace(/\.$/, "");
    const cure =
      error.code === "BAD_DQ_ESCAPE"
        ? "Write \\\\ for a backslash."
        : "Check the indentation, and put text with a colon or a special character in quotes.";
    fail(error.pos[0], reason, cure);
  }
  const root = document?.contents ?? null;
  if (root === null) return { value: {}, lines: new Map() };
  if (!isMap(root)) return fail(root.range[0], "the front matter must be a mapping of keys to values");
  const lines = new Map(root.items.map(({ key }) => [String(key), lineOf(key.range[0])]));
  return { value: toObject(root, fail), lines };
}

function toJson(node: ParsedNode | null, fail: Fail): unknown {
  if (isScalar(node)) return toScalar(node, fail);
  if (isSeq(node)) return node.items.map((item) => toJson(item, fail));
  return isMap(node) ? toObject(node, fail) : null;
}

function toObject({ items }: YAMLMap.Parsed, fail: Fail): JsonObject {
  const value: JsonObject = {};
  for (const pair of items) {
    const key = toKey(pair.key, fail);
    if (Object.hasOwn(value, key)) fail(pair.key.range[0], `the key "${key}" occurs twice`, "Remove one of the two.");
    value[key] = toJson(pair.value, fail);
  }
  return value;
}

function toKey(node: ParsedNode, fail: Fail): string {
  const [offset] = node.range;
  const key = isScalar(node) ? toScalar(node, fail) : undefined;
  if (typeof key !== "string") return fail(offset, `the key ${String(node)} is not text`, "Put it in quotes.");
  // A reader may merge the value of "<<", and an object may take "__proto__" as its prototype.
  if (key !== "__proto__" && key !== "<<" && key.length <= maxKey) return key;
  return fail(offset, `${JSON.stringify(key.slice(0, 40))} cannot be a key`, "Choose another key.");
}

function toScalar({ value, source, range }: Scalar.Parsed, fail: Fail): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    fail(range[0], `${source} is not a JSON number`, "Put it in quotes.");
  }
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    fail(range[0], "an escape is half a surrogate pair", "Write the character itself.");
  }
  return value;
}
