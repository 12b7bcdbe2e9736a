import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { CallToolResult, Tool } from "../../mcp/tools.ts";
import type { McpHeader } from "../../mcp/mirrored-headers.ts";
import type { PeerSchema } from "../../schema/peer-schema.ts";
import { formatIssue } from "../../schema/schema.ts";

interface Known {
  tool: Tool;
  /** The output schema, prepared when the tool returns its first result. */
  output?: Promise<PeerSchema>;
  headers?: readonly McpHeader[];
}

/** The listed tools, with their prepared output schemas and header annotations. */
export class KnownTools {
  readonly #known = new Map<string, Known>();
  readonly #report: (error: Error) => void;
  /** The whole list was read since the last change, so a tool that is not here does not exist. */
  isComplete = false;

  /** `report` receives an error for each output schema that is not checked, or not in full. */
  constructor(report: (error: Error) => void) {
    this.#report = report;
  }

  get(name: string): Tool | undefined {
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

  /** The headers that mirror a call's arguments (2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters). */
  async headers(name: unknown, args: unknown): Promise<Record<string, string> | undefined> {
    const known = this.#known.get(name as string);
    if (!known) return undefined;
    known.headers ??= await headersOf(known.tool);
    if (known.headers.length === 0) return {};
    const { mirrorArguments } = await import("./mirror-arguments.ts");
    return mirrorArguments(known.headers, args);
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
