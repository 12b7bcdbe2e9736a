import { isObject } from "../../rpc/messages.ts";
import type { JsonSchema } from "../schema.ts";
import { ANY_TYPE, type Check, type Kind, type Node, Type, type TypeName } from "./apply.ts";
import { arrayChecks, unevaluatedItems } from "./arrays.ts";
import { combinationChecks, dynamicReferenceTo, referenceTo } from "./combinations.ts";
import type { Place, SchemaDocument } from "./document.ts";
import { type Dialect, keywordsOf } from "./keywords.ts";
import { objectChecks, unevaluatedProperties } from "./objects.ts";
import type { PatternEngine } from "./patterns.ts";
import { valueKeywords } from "./values.ts";

export interface CompilerOptions {
  readonly patterns: PatternEngine;
  readonly format?: "assert" | "annotate" | undefined;
  /** Whether a schema takes a step for each property that it declares. */
  readonly exhaustive?: boolean | undefined;
}

const kinds: readonly Kind[] = ["number", "string", "array", "object", "other"];

/** Keywords that need no check, or that `Compiler` handles itself. */
const simple = /^(type|title|description|default)$/;

/** Makes the subschemas of a document ready for use, each once. */
export class Compiler {
  readonly dialect: Dialect;
  readonly options: CompilerOptions;
  readonly #document: SchemaDocument;
  readonly #nodes = new Map<Place, Node>();
  readonly #unfinished: Node[] = [];
  readonly #true: Node;
  readonly #false: Node;

  constructor(document: SchemaDocument, options: CompilerOptions) {
    this.#document = document;
    this.dialect = document.dialect;
    this.options = options;
    this.#true = this.#emptyNode({ ...document.root, schema: true });
    this.#false = { ...this.#emptyNode({ ...document.root, schema: false }), types: 0 };
  }

  /** Compiles the document. Everything that references lead to is compiled too, without recursion. */
  compile(): Node {
    const root = this.nodeAt(this.#document.root);
    for (const { dynamicAnchors } of this.#document.resources)
      for (const place of dynamicAnchors.values()) this.nodeAt(place);
    for (let node = this.#unfinished.pop(); node; node = this.#unfinished.pop()) this.#fill(node);
    return root;
  }

  knows(keyword: string): boolean {
    return Object.hasOwn(keywordsOf[this.dialect], keyword);
  }

  /** The node of a subschema, which may still be empty. */
  node(schema: JsonSchema | boolean): Node {
    if (typeof schema === "boolean") return schema ? this.#true : this.#false;
    return this.nodeAt(this.#document.places.get(schema)!);
  }

  nodeAt(place: Place): Node {
    if (typeof place.schema === "boolean") return this.node(place.schema);
    let node = this.#nodes.get(place);
    if (!node) {
      node = this.#emptyNode(place);
      this.#nodes.set(place, node);
      this.#unfinished.push(node);
    }
    return node;
  }

  #emptyNode(place: Place): Node {
    const checks = { number: [], string: [], array: [], object: [], other: [] };
    return { place, cost: 1, types: ANY_TYPE, typeNames: "", checks, last: [], isScope: this.#document.isDynamic };
  }

  #fill(node: Node): void {
    const { place, checks } = node;
    const { schema, reference, dynamicReference } = place;
    if (!isObject(schema)) return;
    const add = (kind: Kind | "any", check: Check<any>): void => {
      for (const each of kind === "any" ? kinds : [kind]) checks[each].push(check);
      node.cost++;
    };
    if (reference) add("any", referenceTo(this.nodeAt(reference)));
    // Up to draft-07, everything beside a $ref is ignored.
    if (reference && this.dialect.startsWith("draft")) return;
    this.#setTypes(node, schema["type"]);
    if (this.options.exhaustive) node.cost += Object.keys(schema["properties"] ?? {}).length;
    let isLeaf = true;
    for (const keyword of Object.keys(schema)) {
      const [kind, make] = (Object.hasOwn(valueKeywords, keyword) && valueKeywords[keyword]) || [];
      const check = make && this.knows(keyword) ? make(schema[keyword], schema, this) : undefined;
      if (check) add(kind!, check);
      isLeaf &&= make !== undefined || simple.test(keyword);
    }
    // Most subschemas have none of the other keywords.
    if (!isLeaf) {
      for (const check of objectChecks(schema, this)) add("object", check);
      for (const check of arrayChecks(schema, this)) add("array", check);
      for (const check of combinationChecks(schema, this)) add("any", check);
    }
    if (dynamicReference) add("any", dynamicReferenceTo(dynamicReference, this));
    this.#addUnevaluated(node, schema);
  }

  #setTypes(node: Node, type: unknown): void {
    if (type === undefined) return;
    const names = [type].flat() as TypeName[];
    node.types = names.reduce((bits, name) => bits | Type[name], 0);
    node.typeNames = names.join(" or ");
  }

  #addUnevaluated(node: Node, schema: JsonSchema): void {
    const { unevaluatedItems: items, unevaluatedProperties: properties } = schema as Record<
      string,
      JsonSchema | boolean
    >;
    if (items !== undefined && this.knows("unevaluatedItems")) node.last.push(unevaluatedItems(this.node(items)));
    if (properties !== undefined && this.knows("unevaluatedProperties")) {
      node.last.push(unevaluatedProperties(this.node(properties)));
    }
  }
}
