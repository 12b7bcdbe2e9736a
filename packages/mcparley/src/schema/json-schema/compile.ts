import { isObject } from "../../rpc/messages.ts";
import type { ValidationIssue, Validator } from "../schema.ts";
import { ANY_TYPE, type Check, type Compiler, type Kind, type Node, Type, apply } from "./apply.ts";
import { arrayChecks, unevaluatedItems } from "./arrays.ts";
import { combinationChecks, dynamicReferenceTo, referenceTo } from "./combinations.ts";
import type { Place, SchemaDocument } from "./document.ts";
import { type CheckedSchema, type Dialect, type Subschema, keywordsOf } from "./keywords.ts";
import { objectChecks, unevaluatedProperties } from "./objects.ts";
import { type PatternEngine, nativePatterns } from "./patterns.ts";
import { type Finding, Run, TooComplex } from "./run.ts";
import { valueKeywords } from "./values.ts";

/** Steps that one validation may take: some 50 ms. Arguments of 100,000 values need 200,000 to 500,000. */
const DEFAULT_STEPS = 1_000_000;

/** Options of `compileDocument`. */
export interface CompileOptions {
  /** Steps that one validation may take. Default: 1,000,000. */
  readonly steps?: number | undefined;
  /** Whether `format` is asserted or only an annotation. Default: "assert". Only tests set this. */
  readonly format?: "assert" | "annotate" | undefined;
  /**
   * Whether a schema takes a step for each property that it declares. A library looks at all of them, also in
   * alternatives that do not match. Default: false.
   */
  readonly exhaustive?: boolean | undefined;
  /** Evaluates `pattern` and `patternProperties`. Default: the runtime's RegExp. */
  readonly patterns?: PatternEngine | undefined;
}

/**
 * Compiles a document, and returns the function that checks values with it. No code is generated from the schema, and
 * `default` is not filled in.
 *
 * Each keyword, value and pattern takes steps from a budget. A value that needs more steps is not accepted. At most 20
 * issues are reported.
 */
export function compileDocument(document: SchemaDocument, options: CompileOptions = {}): Validator {
  const { steps = DEFAULT_STEPS } = options;
  const root = new DocumentCompiler(document, options).compile();
  return (value) => {
    try {
      if (apply(root, value, new Run(steps), undefined)) return { value };
    } catch (error) {
      if (!(error instanceof TooComplex)) throw error;
      return { issues: [{ path: "", message: "is too complex to be checked with this schema" }] };
    }
    return { issues: findIssues(root, value, steps) };
  };
}

/** Validates a value that does not fit a second time, with a new budget, and collects its issues. */
function findIssues(root: Node, value: unknown, steps: number): readonly ValidationIssue[] {
  const run = new Run(steps);
  const findings: Finding[] = [];
  run.findings = findings;
  try {
    apply(root, value, run, undefined);
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
  }
  if (findings.length === 0) return [{ path: "", message: "does not match the schema" }];
  return findings.map(({ path, message }) => ({ path, message }));
}

const kinds: readonly Kind[] = ["number", "string", "array", "object", "other"];

/** Keywords that need no check, or that the compiler itself handles. */
const simple = /^(type|title|description|default)$/;

/** Compiles the subschemas of a document, each of them once. */
class DocumentCompiler implements Compiler {
  readonly dialect: Dialect;
  readonly patterns: PatternEngine;
  readonly assertsFormat: boolean;
  readonly #isExhaustive: boolean;
  readonly #document: SchemaDocument;
  readonly #nodes = new Map<Place, Node>();
  readonly #pendingNodes: Node[] = [];
  readonly #true: Node;
  readonly #false: Node;

  constructor(document: SchemaDocument, { patterns, format, exhaustive }: CompileOptions) {
    this.#document = document;
    this.dialect = document.dialect;
    this.patterns = patterns ?? nativePatterns;
    this.assertsFormat = format !== "annotate";
    this.#isExhaustive = exhaustive ?? false;
    this.#true = this.#emptyNode({ ...document.root, schema: true });
    this.#false = { ...this.#emptyNode({ ...document.root, schema: false }), types: 0 };
  }

  /** Compiles the root and all targets of references. Not recursive, so that no nesting exhausts the stack. */
  compile(): Node {
    const root = this.nodeAt(this.#document.root);
    for (const { dynamicAnchors } of this.#document.resources)
      for (const place of dynamicAnchors.values()) this.nodeAt(place);
    for (let node = this.#pendingNodes.pop(); node; node = this.#pendingNodes.pop()) this.#fill(node);
    return root;
  }

  knows(keyword: string): boolean {
    return Object.hasOwn(keywordsOf(this.dialect), keyword);
  }

  node(schema: Subschema): Node {
    if (typeof schema === "boolean") return schema ? this.#true : this.#false;
    return this.nodeAt(this.#document.places.get(schema)!);
  }

  nodeAt(place: Place): Node {
    if (typeof place.schema === "boolean") return this.node(place.schema);
    let node = this.#nodes.get(place);
    if (!node) {
      node = this.#emptyNode(place);
      this.#nodes.set(place, node);
      this.#pendingNodes.push(node);
    }
    return node;
  }

  #emptyNode(place: Place): Node {
    const checks = { number: [], string: [], array: [], object: [], other: [] };
    return { place, cost: 1, types: ANY_TYPE, typeNames: "", checks, last: [], isScope: this.#document.isDynamic };
  }

  /** Adds the checks of a subschema to its node. */
  #fill(node: Node): void {
    const { place, checks } = node;
    const { schema, reference, dynamicReference } = place;
    if (!isObject(schema)) return;
    const checkedSchema = schema as CheckedSchema;
    const add = (kind: Kind | "any", check: Check<any>): void => {
      for (const each of kind === "any" ? kinds : [kind]) checks[each].push(check);
      node.cost++;
    };
    if (reference) add("any", referenceTo(this.nodeAt(reference)));
    // Up to draft-07, everything beside a $ref is ignored.
    if (reference && this.dialect.startsWith("draft")) return;
    const { type, properties = {}, unevaluatedItems: items, unevaluatedProperties: otherProperties } = checkedSchema;
    if (type !== undefined) {
      const names = [type].flat();
      node.types = names.reduce((bits, name) => bits | Type[name], 0);
      node.typeNames = names.join(" or ");
    }
    if (this.#isExhaustive) node.cost += Object.keys(properties).length;
    let isLeaf = true;
    for (const keyword of Object.keys(schema)) {
      const [kind, make] = (Object.hasOwn(valueKeywords, keyword) && valueKeywords[keyword]) || [];
      const check = make && this.knows(keyword) ? make(schema[keyword], checkedSchema, this) : undefined;
      if (check) add(kind!, check);
      isLeaf &&= make !== undefined || simple.test(keyword);
    }
    // Most subschemas have none of the other keywords.
    if (!isLeaf) {
      for (const check of objectChecks(checkedSchema, this)) add("object", check);
      for (const check of arrayChecks(checkedSchema, this)) add("array", check);
      for (const check of combinationChecks(checkedSchema, this)) add("any", check);
    }
    if (dynamicReference) add("any", dynamicReferenceTo(dynamicReference, this));
    if (items !== undefined && this.knows("unevaluatedItems")) node.last.push(unevaluatedItems(this.node(items)));
    if (otherProperties !== undefined && this.knows("unevaluatedProperties")) {
      node.last.push(unevaluatedProperties(this.node(otherProperties)));
    }
  }
}
