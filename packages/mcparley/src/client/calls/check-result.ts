import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { type PeerSchema, preparePeerSchema } from "../../schema/validation/peer-schema.ts";
import type { CallToolResult } from "../../mcp/tools.ts";
import { formatIssue } from "../../schema/schema.ts";
import type { Call } from "../core.ts";
import { findAgain } from "./find-tool.ts";
import type { KnownTool } from "./known-tools.ts";
import { readToolResult } from "./tool-results.ts";

/** The reason why a result is not valid. */
interface Mismatch {
  reason: string;
  /** The schema could be used, so the reason may be that the server has changed it. */
  isOfResult: boolean;
}

/**
 * Checks the result of a call against the output schema of its tool. A result that does not fit may come from a newer
 * version of the tool, so the tools are listed once more. The tool is not called again.
 *
 * Throws `invalid_result`, with the result in `data`, if the result does not fit or is too complex to be checked.
 */
export async function checkResult(call: Call, knownTool: KnownTool, answer: JsonObject): Promise<void> {
  const { core, params } = call;
  const { generation } = core.tools;
  const name = String(params.name);
  const result = readToolResult(answer, true);
  let mismatch = await mismatchOf(call, knownTool, result);
  if (mismatch?.isOfResult) {
    const current = await findAgain(call, generation);
    if (current) mismatch = await mismatchOf(call, current, result);
  }
  if (!mismatch) return;
  const message = `The result of the tool "${name}" does not match its output schema: ${mismatch.reason}`;
  throw new LocalError("invalid_result", message, { data: { result } });
}

async function mismatchOf(
  call: Call,
  knownTool: KnownTool,
  { structuredContent }: CallToolResult,
): Promise<Mismatch | undefined> {
  const { name, outputSchema } = knownTool.tool;
  if (!outputSchema) return undefined;
  if (structuredContent === undefined) return { reason: "it has no structuredContent", isOfResult: true };
  try {
    const { validate } = await (knownTool.output ??= prepare(call, name, outputSchema));
    const { issues } = validate(structuredContent);
    return issues && { reason: issues.map(formatIssue).join("; "), isOfResult: true };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { reason: `the schema cannot be used. ${why}`, isOfResult: false };
  }
}

async function prepare({ core }: Call, name: string, schema: JsonObject): Promise<PeerSchema> {
  const peerSchema = await preparePeerSchema(schema);
  for (const reason of peerSchema.unchecked) {
    const message = `Results of the tool "${name}" are not fully checked against its output schema. ${reason}`;
    core.report(new LocalError("invalid_message", message));
  }
  return peerSchema;
}
