import type { JsonObject } from "../../rpc/messages.ts";
import type { ContentBlock, ResourceLink, TextContent } from "../../mcp/content.ts";
import type { CallToolResult } from "../../mcp/tools.ts";
import type { FromJsonSchema, ObjectFromJsonSchema } from "../../schema/infer-json-schema.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { Anything, NoSchema, SchemaTypes, TypedSchema } from "../../schema/standard-schema.ts";
import type { InputRequired } from "./input-required.ts";

/**
 * The types of the arguments of a tool. `input` is what a client passes and `output` what the handler receives after
 * validation, as in Standard Schema. One conditional type for both: the compiler compares each schema of a library once.
 */
export type ArgumentTypes<I> = I extends TypedSchema
  ? SchemaTypes<I>
  : I extends JsonSchema
    ? { readonly input: OrObject<ObjectFromJsonSchema<I>>; readonly output: ObjectFromJsonSchema<I> }
    : { readonly input: Record<string, never>; readonly output: Record<string, never> };

/** The types of a result with an output schema. `input` is what the handler returns and `output` what a client receives. */
export type ResultTypes<O> = O extends TypedSchema
  ? SchemaTypes<O>
  : { readonly input: OrObject<FromJsonSchema<O>>; readonly output: FromJsonSchema<O> };

/**
 * The value that `callTool` of a client returns: that of the output schema, or the value that the content of the result
 * becomes. `R` is the type that the handler returns if there is no output schema.
 */
export type ToolValue<O, R> = [O] extends [NoSchema] ? ContentValue<R> : ResultTypes<O>["output"];

/** Any object in place of an object of unknown members, because an interface cannot be assigned to the latter. */
type OrObject<T> = unknown extends T ? Anything : JsonObject extends T ? object : T;

/**
 * The return type of a tool without an output schema. Strings, numbers and booleans become text content. To return another
 * object, set `output`, a schema of the object.
 */
export type ResultWithoutOutputSchema =
  | string
  | number
  | boolean
  | null
  | undefined
  | void
  | ContentBlock
  | readonly (string | ContentBlock)[]
  | CallToolResult
  | ToolResult
  | InputRequired;

/**
 * A client returns the text of a result whose content is all text, and otherwise the content. A link is text on revisions
 * before 2025-06-18.
 */
type ContentValue<R> = R extends InputRequired
  ? never
  : R extends string | number | boolean | TextContent
    ? string
    : R extends null | undefined | void
      ? ContentBlock[]
      : R extends readonly unknown[] | ResourceLink
        ? string | ContentBlock[]
        : R extends ContentBlock
          ? ContentBlock[]
          : unknown;

/** A whole result of a tool. Made by `toolResult`. */
export class ToolResult {
  /** The result, as it was passed to `toolResult`. */
  readonly result: CallToolResult;

  constructor(result: CallToolResult) {
    this.result = result;
  }
}

/**
 * Makes a whole tool result, for tools with an output schema that also set `content` themselves.
 *
 * `structuredContent` must match the output schema of the tool, unless `isError` is set.
 *
 * @example
 * ```ts
 * import { tool, toolResult } from "mcparley/server";
 * import { z } from "zod";
 *
 * const weather = tool({
 *   description: "Returns the weather.",
 *   output: z.object({ celsius: z.number() }),
 *   call: () => toolResult({ content: [{ type: "text", text: "Mild." }], structuredContent: { celsius: 18 } }),
 * });
 * ```
 */
export function toolResult(result: {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: JsonObject;
}): ToolResult {
  return new ToolResult(result);
}
