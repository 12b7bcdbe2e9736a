import type { JsonSchema } from "../schema.ts";
import { isObject } from "../../rpc/messages.ts";
import { decodePercent } from "../percent-encoding.ts";
import { copySchema, refuse, show } from "./copy-schema.ts";
import { type Dialect, dialectOf, subschemasOf } from "./keywords.ts";
import { type CheckKeywords, keywordCheck } from "./shapes.ts";

/** Maximum number of levels of subschemas. */
const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 5_000;
/** Any hierarchical URI serves as the base URI of a schema without `$id`. No reference to it is ever fetched. */
const BASE_URI = "document:///schema";

/** A schema with its base URI, and the subschemas that belong to it. */
export interface Resource {
  readonly uri: string;
  readonly root: Place;
  readonly anchors: Map<string, Place>;
  /** The anchors of `$dynamicAnchor`. A `$recursiveAnchor` has the key "". */
  readonly dynamicAnchors: Map<string, Place>;
}

/** One subschema of a document. */
export interface Place {
  readonly schema: JsonSchema | boolean;
  /** Its position, as a JSON pointer in a URI fragment: `#/properties/a`. */
  readonly pointer: string;
  /** Number of subschemas around it. */
  readonly depth: number;
  /** The resource that it belongs to. */
  resource: Resource;
  /** Targets of `$ref`, and of `$dynamicRef` or `$recursiveRef`. */
  reference?: Place;
  dynamicReference?: DynamicReference;
}

/** The target of a `$dynamicRef` or `$recursiveRef`. */
export interface DynamicReference {
  /** The target if no resource that validation has passed has the anchor. */
  readonly initial: Place;
  /** Undefined if the reference always leads to `initial`. */
  readonly anchor: string | undefined;
}

/** A schema that was checked against the meta-schema of its dialect, with its references resolved. */
export interface SchemaDocument {
  readonly root: Place;
  readonly dialect: Dialect;
  /** The subschemas by their objects. Schemas `true` and `false` have no entry. */
  readonly places: ReadonlyMap<object, Place>;
  readonly resources: Iterable<Resource>;
  /**
   * Whether the document has a `$dynamicRef` or `$recursiveRef`. Validation must then track the resources that it passes.
   */
  readonly isDynamic: boolean;
}

/** Options of `readDocument`. */
interface DocumentOptions {
  /** Other documents that references may lead to, by absolute URI. Only tests set this. */
  documents?: ReadonlyMap<string, JsonSchema | boolean> | undefined;
  /** Whether the schema came from a peer. Its patterns are not checked, because another engine evaluates them. */
  isOfPeer?: boolean | undefined;
}

/**
 * Copies a schema, checks it against the meta-schema of its dialect, and resolves its references. Never fetches anything.
 *
 * Throws a SchemaError: `unsupported_dialect`, `invalid_schema`, `external_ref` for a reference that leads outside the
 * document and `documents`, or `too_complex` for over 64 levels, 5,000 subschemas or 1 MiB of JSON.
 */
export function readDocument(schema: JsonSchema | boolean, options: DocumentOptions = {}): SchemaDocument {
  const copy = copySchema(schema, options);
  const dialect = dialectAt(copy, "#");
  const reader = new DocumentReader(dialect, options);
  const root = reader.addRoot(copy, BASE_URI);
  reader.finish();
  return { root, dialect, places: reader.places, resources: reader.resources, isDynamic: reader.isDynamic };
}

function dialectAt(schema: JsonSchema | boolean, pointer: string): Dialect {
  const dialectUri = isObject(schema) ? schema["$schema"] : undefined;
  const dialects = "2020-12, 2019-09, draft-07 or draft-04";
  return (
    dialectOf(dialectUri) ??
    refuse("unsupported_dialect", `has ${show(dialectUri)} at ${pointer}/$schema; use ${dialects}`)
  );
}

/** Collects the subschemas of a document, without recursion, so that no nesting exhausts the stack. */
class DocumentReader {
  readonly places = new Map<object, Place>();
  isDynamic = false;
  readonly #dialect: Dialect;
  readonly #options: DocumentOptions;
  readonly #checkKeywords: CheckKeywords;
  readonly #resources = new Map<string, Resource>();
  readonly #foundPlaces: Place[] = [];
  #next = 0;

  constructor(dialect: Dialect, options: DocumentOptions) {
    this.#dialect = dialect;
    this.#options = options;
    this.#checkKeywords = keywordCheck(dialect, options.isOfPeer ?? false);
  }

  /** Adds a whole document with everything in it. */
  addRoot(schema: JsonSchema | boolean, uri: string): Place {
    const root = { schema, pointer: "#", depth: 0 } as Place;
    root.resource = this.#addResource(uri, root);
    this.#add(root);
    return root;
  }

  /** Resolves all references. A target that is not a known subschema is added, with its own references. */
  finish(): void {
    for (let index = 0; index < this.#foundPlaces.length; index++) this.#resolveReferences(this.#foundPlaces[index]!);
  }

  get resources(): readonly Resource[] {
    return [...this.#resources.values()];
  }

  #add(place: Place): void {
    this.#foundPlaces.push(place);
    for (; this.#next < this.#foundPlaces.length; this.#next++) this.#read(this.#foundPlaces[this.#next]!);
  }

  #read(place: Place): void {
    const { schema, pointer, depth } = place;
    if (depth > MAX_DEPTH || this.#foundPlaces.length > MAX_SUBSCHEMAS) {
      refuse("too_complex", `has more than ${MAX_DEPTH} levels or ${MAX_SUBSCHEMAS} subschemas`);
    }
    if (!isObject(schema)) return;
    this.places.set(schema, place);
    if (schema["$schema"] !== undefined && dialectAt(schema, pointer) !== this.#dialect) {
      refuse("unsupported_dialect", `has ${show(schema["$schema"])} at ${pointer}/$schema, unlike its root`);
    }
    this.#checkKeywords(schema, pointer);
    this.#readIdentifiers(place, schema);
    for (const { schema: subschema, pointer: step } of subschemasOf(schema, this.#dialect)) {
      const child = { schema: subschema, pointer: pointer + step, depth: depth + 1, resource: place.resource };
      this.#foundPlaces.push(child);
    }
  }

  /** Up to draft-07, everything beside a `$ref` is ignored, and `$id: "#name"` is an anchor. */
  #readIdentifiers(place: Place, schema: JsonSchema): void {
    const isOld = this.#dialect.startsWith("draft");
    const id = schema[this.#dialect === "draft-04" ? "id" : "$id"];
    if (typeof id === "string" && !(isOld && typeof schema["$ref"] === "string")) {
      const [base, fragment] = splitAtHash(id);
      if (base) place.resource = this.#addResource(this.#absolute(base, place), place);
      if (fragment && isOld) place.resource.anchors.set(fragment, place);
    }
    if (isOld) return;
    const { $anchor, $dynamicAnchor, $recursiveAnchor } = schema;
    if (typeof $anchor === "string") place.resource.anchors.set($anchor, place);
    if (typeof $dynamicAnchor === "string" && this.#dialect === "2020-12") {
      place.resource.anchors.set($dynamicAnchor, place);
      place.resource.dynamicAnchors.set($dynamicAnchor, place);
    }
    if ($recursiveAnchor === true && this.#dialect === "2019-09") place.resource.dynamicAnchors.set("", place);
  }

  #addResource(uri: string, root: Place): Resource {
    const knownResource = this.#resources.get(uri);
    // A document was loaded by its URI and has the same URI as its identifier.
    if (knownResource?.root === root) return knownResource;
    if (knownResource) refuse("invalid_schema", `has the identifier ${show(uri)} twice`);
    const resource = { uri, root, anchors: new Map<string, Place>(), dynamicAnchors: new Map<string, Place>() };
    this.#resources.set(uri, resource);
    return resource;
  }

  #resolveReferences(place: Place): void {
    const { schema } = place;
    if (!isObject(schema)) return;
    const { $ref, $dynamicRef, $recursiveRef } = schema;
    if (typeof $ref === "string") place.reference = this.#resolve($ref, place);
    const dynamic = this.#dialect === "2020-12" ? $dynamicRef : $recursiveRef;
    if (typeof dynamic !== "string" || this.#dialect.startsWith("draft")) return;
    const initial = this.#resolve(dynamic, place);
    // The only anchor of a $recursiveRef is the empty one.
    const [, anchor = ""] = splitAtHash(dynamic);
    const isBound = initial.resource.dynamicAnchors.get(anchor) === initial;
    place.dynamicReference = { initial, anchor: isBound ? anchor : undefined };
    this.isDynamic = true;
  }

  #resolve(reference: string, source: Place): Place {
    const [base, fragment = ""] = splitAtHash(reference);
    const resource = base ? this.#resourceAt(this.#absolute(base, source), reference) : source.resource;
    const name = decodePercent(fragment) ?? fragment;
    if (name === "") return resource.root;
    const target = name.startsWith("/") ? this.#followPointer(name, resource) : resource.anchors.get(name);
    return (
      target ??
      refuse("invalid_schema", `has a reference ${show(reference)} at ${source.pointer} that does not resolve`)
    );
  }

  #resourceAt(uri: string, reference: string): Resource {
    const knownResource = this.#resources.get(uri);
    if (knownResource) return knownResource;
    const document = this.#options.documents?.get(uri);
    if (document === undefined) {
      const cure = 'copy that schema to "#/$defs/<name>", since schemas are not fetched';
      return refuse("external_ref", `has a reference ${show(reference)} to another document; ${cure}`);
    }
    this.addRoot(copySchema(document, this.#options), uri);
    return this.#resources.get(uri)!;
  }

  #followPointer(pointer: string, resource: Resource): Place | undefined {
    let value: unknown = resource.root.schema;
    let nearest = resource.root;
    for (const step of pointer.slice(1).split("/")) {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
      value = Reflect.get(value, key);
      if (isObject(value)) nearest = this.places.get(value) ?? nearest;
    }
    const knownPlace = isObject(value) ? this.places.get(value) : undefined;
    if (knownPlace) return knownPlace;
    if (!isObject(value) && typeof value !== "boolean") return undefined;
    const place: Place = {
      schema: value,
      pointer: `#${pointer}`,
      depth: nearest.depth + 1,
      resource: nearest.resource,
    };
    this.#add(place);
    return place;
  }

  #absolute(reference: string, source: Place): string {
    try {
      return new URL(reference, source.resource.uri).href;
    } catch {
      return refuse("invalid_schema", `has ${show(reference)} at ${source.pointer}, which is not a URI reference`);
    }
  }
}

function splitAtHash(reference: string): [base: string, fragment: string | undefined] {
  const index = reference.indexOf("#");
  return index === -1 ? [reference, undefined] : [reference.slice(0, index), reference.slice(index + 1)];
}
