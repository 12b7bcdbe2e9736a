import type { JsonObject } from "../rpc/messages.ts";
import type { ContentBlock, TextContent } from "../mcp/content.ts";
import type { CallToolResult } from "../mcp/tools.ts";
import type { FromJsonSchema, ObjectFromJsonSchema } from "../schema/infer-json-schema.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Anything, InferInput, InferOutput, TypedSchema } from "../schema/standard-schema.ts";
import type { ToolResult } from "./features/tools.ts";
import type { InputRequired } from "./input/input-required.ts";

/** The arguments that the handler of a tool receives: the output type of its schema. */
export type ToolInput<I> = I extends TypedSchema
  ? InferOutput<I>
  : I extends JsonSchema
    ? ObjectFromJsonSchema<I>
    : Record<string, never>;

/** The arguments that a client passes: the input type of the tool's schema. */
export type ToolArguments<I> = I extends TypedSchema
  ? InferInput<I>
  : I extends JsonSchema
    ? OrObject<ObjectFromJsonSchema<I>>
    : Record<string, never>;

/** The value that a handler returns for an output schema: the input type of the schema. */
export type Accepted<O> = O extends TypedSchema ? InferInput<O> : OrObject<FromJsonSchema<O>>;

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

/** The value that `callTool` of a client returns: that of the output schema, or what the content of the result becomes. */
export type ToolValue<O, R> = O extends TypedSchema
  ? InferOutput<O>
  : O extends JsonSchema
    ? FromJsonSchema<O>
    : ContentValue<R>;

/** A client returns the text of a result whose content is all text, and otherwise the content. */
type ContentValue<R> = R extends InputRequired
  ? never
  : R extends string | number | boolean | TextContent
    ? string
    : R extends null | undefined | void
      ? ContentBlock[]
      : R extends readonly unknown[]
        ? string | ContentBlock[]
        : R extends ContentBlock
          ? ContentBlock[]
          : unknown;
