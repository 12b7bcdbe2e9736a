import type { PeerSchema } from "./peer-schema.ts";
import type { JsonSchema, ValidationIssue } from "../schema.ts";

/** Compiled schemas by their objects. */
const peerSchemas = /* @__PURE__ */ new WeakMap<JsonSchema, Promise<PeerSchema>>();

/**
 * Checks a value against a JSON Schema of a server, such as the `inputSchema` of a tool. Resolves with the reasons why the value
 * does not match; an empty list means that it matches. At most 20 reasons are returned.
 *
 * Patterns are evaluated in linear time, and the number of steps is limited. A schema that is not a valid JSON Schema checks
 * nothing. The compiled schema is kept as long as the schema object, so do not change the object.
 *
 * Rejects with an error if the schema has an unknown dialect, refers to another document, or is too complex to check.
 *
 * @example
 * ```ts
 * import { connect, validateJson } from "mcparley/client";
 *
 * await using client = await connect("https://example.com/mcp");
 * for await (const { name, inputSchema } of client.listTools()) {
 *   console.log(name, await validateJson(inputSchema, { query: "backup" }));
 * }
 * ```
 */
export async function validateJson(schema: JsonSchema, value: unknown): Promise<readonly ValidationIssue[]> {
  // The evaluator is larger than the rest of a client, and few programs need it.
  let peerSchema = peerSchemas.get(schema);
  if (!peerSchema) {
    peerSchema = import("./peer-schema.ts").then(({ preparePeerSchema }) => preparePeerSchema(schema));
    peerSchemas.set(schema, peerSchema);
  }
  const { validate } = await peerSchema;
  return validate(value).issues ?? [];
}
