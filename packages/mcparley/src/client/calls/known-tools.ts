import { LocalError } from "../../rpc/errors.ts";
import { ToolError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ContentBlock, TextContent } from "../../mcp/content.ts";
import type { McpHeader } from "../../mcp/mirrored-headers.ts";
import type { CallToolResult, Tool } from "../../mcp/tools.ts";
import type { PeerSchema } from "../../schema/peer-schema.ts";
import { formatIssue } from "../../schema/schema.ts";
import type { Call } from "./call.ts";

interface Known {
  tool: Tool;
  /** The output schema, prepared when the tool returns its first result. */
  output?: Promise<PeerSchema>;
  headers?: readonly McpHeader[];
}

/** The listed tools, with their prepared output schemas and header annotations. */
export class KnownTools {
  readonly #known = new Map<unknown, Known>();
  readonly #report: (error: Error) => void;
  /** The whole list was read since the last change, so a tool that is not here does not exist. */
  isComplete = false;

  /** `report` receives an error for each output schema that is not checked, or not in full. */
  constructor(report: (error: Error) => void) {
    this.#report = report;
  }

  get(name: unknown): Tool | undefined {
    return this.#known.get(name)?.tool;
  }

  set(tool: Tool): void {
    this.#known.set(tool.name, { tool });
  }

  /** Forgets all tools, for example after a notification that the list changed. */
  clear(): void {
    this.#known.clear();
    this.isComplete = false;
  }

  /** The arguments of a tool that are mirrored into headers. Undefined for an unknown tool. */
  async headers(name: unknown): Promise<readonly McpHeader[] | undefined> {
    const known = this.#known.get(name);
    return known && (known.headers ??= await headersOf(known.tool));
  }

  /**
   * Checks a result against the output schema of its tool. Throws `invalid_result`, with the result in `data`, if it does
   * not fit or is too complex to be checked. The result of an unknown tool is not checked, and neither is a tool error.
   */
  async checkResult(name: string, result: CallToolResult): Promise<void> {
    const known = this.#known.get(name);
    const schema = known?.tool.outputSchema;
    if (!known || !schema || result.isError) return;
    const reason =
      result.structuredContent === undefined
        ? "it has no structuredContent"
        : await this.#misfit(known, schema, result.structuredContent);
    if (reason === undefined) return;
    const message = `The result of the tool "${name}" does not match its output schema: ${reason}`;
    throw new LocalError("invalid_result", message, { data: { result } });
  }

  async #misfit(known: Known, schema: JsonObject, value: unknown): Promise<string | undefined> {
    try {
      const { validate } = await (known.output ??= this.#prepare(known.tool.name, schema));
      return validate(value).issues?.map(formatIssue).join("; ");
    } catch (error) {
      return `the schema cannot be used. ${(error as Error).message}`;
    }
  }

  async #prepare(name: string, schema: JsonObject): Promise<PeerSchema> {
    // The reader of JSON Schemas is too large for the start, and many tools have no output schema.
    const { preparePeerSchema } = await import("../../schema/peer-schema.ts");
    const prepared = await preparePeerSchema(schema);
    for (const reason of prepared.unchecked) {
      const message = `Results of the tool "${name}" are not fully checked against its output schema. ${reason}`;
      this.#report(new LocalError("invalid_message", message));
    }
    return prepared;
  }
}

/**
 * Returns the arguments of a tool that are mirrored into headers. Throws if a mark breaks the rules. Most tools mark none,
 * so the code that reads the marks is loaded with the first tool that does.
 */
export async function headersOf({ inputSchema }: Tool): Promise<readonly McpHeader[]> {
  if (!mentions(inputSchema, '"x-mcp-header"')) return [];
  const { mcpHeaders } = await import("../../mcp/mirrored-headers.ts");
  return mcpHeaders(inputSchema);
}

function mentions(schema: JsonObject, name: string): boolean {
  try {
    return JSON.stringify(schema).includes(name);
  } catch {
    // Nested so deep that it exhausts the stack. No mark is valid there.
    return false;
  }
}

/**
 * Makes the tool of a call known: lists the tools until it is found, at most once between two changes of the list. If the
 * tool is not in the list, or the list cannot be read, the call is sent all the same.
 */
export async function findTool({ core, params, options: { signal } }: Call): Promise<void> {
  const { tools } = core;
  if (tools.isComplete || tools.get(params.name)) return;
  try {
    for await (const tool of core.listTools(signal ? { signal } : {})) if (tool.name === params.name) return;
  } catch (error) {
    if (signal?.aborted || core.closing.aborted) throw error;
    core.report(error);
    tools.isComplete = true;
  }
}

/** Checks the form of a tool result. Content of unknown types is not checked. */
export function readToolResult(name: string, result: JsonObject): CallToolResult {
  const { content = [] } = result;
  if (Array.isArray(content)) return { ...result, content };
  throw new LocalError("invalid_message", `The tool "${name}" was answered with "content" that is no array.`);
}

/**
 * Returns the value of a tool result: its structured content, or its text if all of its content is text, or its content.
 * Throws `ToolError` for the result of a failed tool.
 */
export function valueOf(name: string, result: CallToolResult): unknown {
  const { content, structuredContent, isError } = result;
  if (isError === true) {
    const text = textOf(content.filter(isText));
    throw new ToolError(text || `The tool "${name}" failed without an error message.`, { result });
  }
  if (structuredContent !== undefined) return structuredContent;
  return content.length > 0 && content.every(isText) ? textOf(content) : content;
}

function isText(block: ContentBlock): block is TextContent {
  return block?.type === "text" && typeof block.text === "string";
}

function textOf(content: readonly TextContent[]): string {
  return content.map(({ text }) => text).join("\n");
}
