import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { preparePeerSchema } from "../../schema/validation/peer-schema.ts";
import type { CallToolResult } from "../../mcp/tools.ts";
import { type Validator, formatIssue } from "../../schema/schema.ts";
import type { Call } from "../core.ts";
import { findAgain } from "./find-tool.ts";
import type { KnownTool } from "./known-tools.ts";
import { readToolResult } from "./tool-results.ts";

/** The reason why a result is not valid. */
interface Mismatch {
  reason: string;
  /** The result could be checked, so the reason may be that the server has changed the schema. */
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
  const validate = await (knownTool.output ??= prepare(call, name, outputSchema));
  if (!validate) return undefined;
  if (structuredContent === undefined) return { reason: "it has no structuredContent", isOfResult: true };
  try {
    const { issues } = validate(structuredContent);
    return issues && { reason: issues.map(formatIssue).join("; "), isOfResult: true };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { reason: `it cannot be checked. ${why}`, isOfResult: false };
  }
}

/**
 * Returns the function that checks results against an output schema. Undefined if the schema cannot be used: the fault is not in the
 * results. Each reason is reported once for a tool, also if the tool is listed again.
 */
async function prepare({ core }: Call, name: string, schema: JsonObject): Promise<Validator | undefined> {
  const report = (part: string, reason: string): void => {
    if (!core.tools.noteReport(name, reason)) return;
    const message = `Results of the tool "${name}" are not ${part}checked against its output schema. ${reason}`;
    core.report(new LocalError("invalid_message", message));
  };
  try {
    const { validate, unchecked, isInvalid } = await preparePeerSchema(schema);
    for (const reason of unchecked) report(isInvalid ? "" : "fully ", reason);
    return isInvalid ? undefined : validate;
  } catch (error) {
    report("", error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
