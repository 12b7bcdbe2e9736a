import type { NoSchema, Schema } from "../schema/standard-schema.ts";
import type { Feature } from "./core/server-core.ts";
import type {
  Prompt,
  PromptArgumentDefinition,
  PromptArgumentTexts,
  PromptArguments,
  PromptDefinition,
  Resource,
  ResourceDefinition,
  Tool,
  ToolDefinition,
} from "./core/definition-types.ts";
import { complete } from "./features/completion.ts";
import { getPrompt, preparePrompt } from "./features/prompts.ts";
import { PreparedIndex } from "./features/resource-index.ts";
import { listResources, prepareResource, readResource } from "./features/resources.ts";
import { callTool, prepareTool } from "./features/tools.ts";
import type { ArgumentTypes, ResultWithoutOutputSchema, ToolValue } from "./core/tool-types.ts";

const tools: Feature = { prepare: prepareTool, methods: { "tools/call": callTool } };
const prompts: Feature = {
  prepare: preparePrompt,
  methods: { "prompts/get": getPrompt, "completion/complete": complete },
};
const resources: Feature = {
  prepare: prepareResource,
  makeIndex: () => new PreparedIndex(),
  methods: {
    "resources/read": readResource,
    "resources/list": listResources,
    "completion/complete": complete,
  },
};

/**
 * Defines a tool.
 *
 * Its name is the key under which it is passed to `createServer`. Invalid arguments and a `ToolError` become a tool error
 * that the model can read. A `ProtocolError` becomes the error response. Other errors are hidden from the client and passed
 * to the server's `onError`.
 *
 * @example
 * ```ts
 * import { tool } from "mcparley/server";
 * import { z } from "zod";
 *
 * const divide = tool({
 *   description: "Divides two numbers.",
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   output: z.object({ quotient: z.number() }),
 *   call: ({ a, b }) => ({ quotient: a / b }),
 * });
 * ```
 */
export function tool<
  const I extends Schema | NoSchema = NoSchema,
  const O extends Schema | NoSchema = NoSchema,
  C extends object = object,
  R extends ResultWithoutOutputSchema = ResultWithoutOutputSchema,
>(definition: ToolDefinition<I, O, C, R>): Tool<ArgumentTypes<I>["input"], ToolValue<O, R>, NoInfer<C>> {
  return { ...definition, kind: "tool", "~feature": tools, "~definition": definition } as never;
}

/**
 * Defines a prompt.
 *
 * Its name is the key under which it is passed to `createServer`. A call whose arguments are missing or invalid is rejected
 * with -32602 before `get` is called.
 *
 * @example
 * ```ts
 * import { prompt } from "mcparley/server";
 * import { z } from "zod";
 *
 * const review = prompt({
 *   description: "Reviews code.",
 *   arguments: {
 *     code: { description: "The code to review", required: true },
 *     language: z.enum(["Rust", "TypeScript"]).default("TypeScript"),
 *     sentences: z.number().int().max(50).optional(),
 *   },
 *   get: ({ code, language, sentences = 5 }) => `Review this ${language} code in ${sentences} sentences:\n${code}`,
 * });
 * ```
 */
export function prompt<
  const A extends PromptArguments = Record<string, PromptArgumentDefinition>,
  C extends object = object,
>(definition: PromptDefinition<A, C>): Prompt<PromptArgumentTexts<A>, NoInfer<C>> {
  return { ...definition, kind: "prompt", "~feature": prompts, "~definition": definition } as never;
}

/**
 * Defines a resource, or a resource template if the URI is one (RFC 6570).
 *
 * Its name is the key under which it is passed to `createServer`. The URI of a request must equal the URI of the resource, or
 * match the template. Both are compared without normalisation. The values of template variables are decoded and not checked.
 *
 * @example
 * ```ts
 * import { resource, resourceNotFound } from "mcparley/server";
 *
 * const texts = new Map([["1", "Buy milk."]]);
 * const note = resource("note://{id}", {
 *   mimeType: "text/plain",
 *   list: () => [...texts.keys()].map((id) => `note://${id}`),
 *   read: ({ id }, ctx) => {
 *     const text = texts.get(id);
 *     if (text === undefined) throw resourceNotFound(ctx.uri);
 *     return text;
 *   },
 * });
 * ```
 */
export function resource<const U extends string, C extends object = object>(
  uri: U,
  definition: ResourceDefinition<U, C>,
): Resource<U, NoInfer<C>> {
  return { ...definition, kind: "resource", uri, "~feature": resources, "~definition": definition } as never;
}

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
