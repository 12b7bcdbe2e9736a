import { repairJson } from "../../rpc/well-formed.ts";
import { checkBudget } from "../budget.ts";
import { type JsonSchema, SchemaError, shorten } from "../schema.ts";
import { isStandardSchema } from "../standard-schema.ts";

/** The limits of the schema as JSON. Each level of subschemas needs up to four levels of JSON. */
const MAX_VALUES = { depth: 256, elements: 500_000 };
/** Maximum number of characters of the schema as JSON. */
const MAX_LENGTH = 1_048_576;

/**
 * Copies a schema through JSON. A schema of a peer arrived as JSON, so it contains no schema of a library.
 *
 * Throws a SchemaError `too_complex` for over 256 levels of JSON, 500,000 values or 1 MiB, and `invalid_schema` for a
 * schema that is not JSON.
 */
export function copySchema(
  schema: JsonSchema | boolean,
  { isOfPeer }: { isOfPeer?: boolean | undefined },
): JsonSchema | boolean {
  const excess = checkBudget(schema, MAX_VALUES);
  if (excess) throw new SchemaError("too_complex", `The schema is too large. ${excess}`);
  let text: string;
  try {
    text = JSON.stringify(schema, isOfPeer ? undefined : refuseLibrarySchemas);
  } catch (error) {
    if (error instanceof SchemaError) throw error;
    throw new SchemaError("invalid_schema", `The schema cannot be written as JSON: ${String(error)}`, { cause: error });
  }
  if (text.length > MAX_LENGTH)
    refuse("too_complex", `has ${text.length} characters; at most ${MAX_LENGTH} are allowed`);
  if (!isOfPeer && text !== repairJson(text)) JSON.stringify(schema, refuseBrokenName);
  const copy: JsonSchema | boolean = JSON.parse(text);
  return copy;
}

/** Throws for the schema of a library, such as zod, which would lose its meaning as JSON. */
function refuseLibrarySchemas(key: string, value: unknown): unknown {
  if (!isStandardSchema(value)) return value;
  const { vendor } = value["~standard"];
  return refuse("invalid_schema", `has a schema of ${vendor} at "${shorten(key)}"; write all of it with ${vendor}`);
}

/** Throws for a name or an allowed value with a lone surrogate. The peer would receive another one, and send that. */
function refuseBrokenName(key: string, value: unknown): unknown {
  const text = JSON.stringify(key === "enum" || key === "const" ? value : key);
  if (text === repairJson(text)) return value;
  return refuse("invalid_schema", `has a name or value with half of a surrogate pair: ${shorten(text)}`);
}

/** Returns a value of a schema for a message, in at most 80 characters. */
export function show(value: unknown): string {
  return shorten(JSON.stringify(value));
}

/** Throws the error for a schema. `reason` is the sentence after "The schema". */
export function refuse(code: SchemaError["code"], reason: string): never {
  throw new SchemaError(code, `The schema ${reason}.`);
}
