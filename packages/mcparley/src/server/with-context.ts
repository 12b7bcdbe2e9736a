import type { NoSchema, Schema } from "../schema/standard-schema.ts";
import {
  type Prompt,
  type PromptArgumentDefinition,
  type PromptArgumentTexts,
  type PromptArguments,
  type PromptDefinition,
  type Resource,
  type ResourceDefinition,
  type Tool,
  type ToolDefinition,
  prompt,
  resource,
  tool,
} from "./definition.ts";
import type { ArgumentTypes, ResultWithoutOutputSchema, ToolValue } from "./tool-types.ts";

/** The functions of `withContext`, for handlers whose context has the properties of `C`. */
export interface WithContext<C extends object> {
  /** Defines a tool. See `tool`. */
  tool: <
    const I extends Schema | NoSchema = NoSchema,
    const O extends Schema | NoSchema = NoSchema,
    R extends ResultWithoutOutputSchema = ResultWithoutOutputSchema,
  >(
    definition: ToolDefinition<I, O, C, R>,
  ) => Tool<ArgumentTypes<I>["input"], ToolValue<O, R>, C>;
  /** Defines a prompt. See `prompt`. */
  prompt: <const A extends PromptArguments = Record<string, PromptArgumentDefinition>>(
    definition: PromptDefinition<A, C>,
  ) => Prompt<PromptArgumentTexts<A>, C>;
  /** Defines a resource or a resource template. See `resource`. */
  resource: <const U extends string>(uri: U, definition: ResourceDefinition<U, C>) => Resource<U, C>;
}

/**
 * Returns `tool`, `prompt` and `resource` functions whose handlers have the context that `createServer({ context })` adds.
 *
 * `C` is the type of the added properties. A server without such a `context` does not accept the definitions. Write the type
 * of the parameter of `context`, if it has one: the compiler cannot infer `C` from a function without it.
 *
 * @example
 * ```ts
 * import { type Context, createServer, withContext } from "mcparley/server";
 *
 * const { tool } = withContext<{ user: string }>();
 * const whoami = tool({ description: "Returns the user.", call: (_, { user }) => user });
 * const server = createServer({
 *   name: "accounts",
 *   version: "1.0.0",
 *   context: ({ principal }: Context) => ({ user: principal?.subject ?? "anonymous" }),
 *   tools: { whoami },
 * });
 * ```
 */
export function withContext<C extends object>(): WithContext<C> {
  return { tool, prompt, resource };
}
