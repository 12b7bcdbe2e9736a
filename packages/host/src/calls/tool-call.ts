import { isObject } from "@mcparley/internal/is-object";
import { type JsonObject, LocalError, ProtocolError } from "mcparley";
import { type CallToolResult, validateJson } from "mcparley/client";
import type { ActiveCall } from "../activity/active-calls.ts";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { CallDecision } from "../consent/call-consent.ts";
import type { Consent } from "../consent/consent.ts";
import type { ToolOutcome } from "../conversation/messages.ts";
import type { CallOrigin } from "../renderer/renderer.ts";
import type { CallSteps, Caller } from "./call.ts";

/** A call of a tool of the catalogue. */
export interface ToolCallRequest extends Caller {
  readonly tool: CatalogueTool;
  readonly arguments: JsonObject;
  readonly origin: CallOrigin;
}

/** Calls a tool. It rejects only if the caller's signal is aborted. */
export type CallTool = (request: ToolCallRequest) => Promise<ToolOutcome>;

type ToolConsent = Pick<Consent, "calls" | "definitions">;

/** Returns the steps of a tool call. The user can edit its arguments. */
export function toolCall(request: ToolCallRequest, consent: ToolConsent): CallSteps<ToolOutcome> {
  const { server, tool } = request.tool;
  const removalOutcome = denialOutcome(`The server ${JSON.stringify(server)} was removed or is disabled.`);
  let args = request.arguments;
  let edit: { editedArguments?: JsonObject } = {};
  return {
    server,
    method: "tools/call",
    name: tool.name,
    outcomeIfRemoved: removalOutcome,
    async admit(call) {
      const problem = await problemOf(request.tool, args);
      if (problem !== undefined) return invalid(problem);
      const decision = await decide(request, consent, call);
      if (!decision) return removalOutcome;
      if (!decision.isAllowed) return denialOutcome(decision.message);
      args = decision.arguments;
      if (!decision.isEdited) return undefined;
      edit = { editedArguments: args };
      const problemOfEdit = await problemOf(request.tool, args);
      return problemOfEdit === undefined ? undefined : invalid(`The user edited the arguments. ${problemOfEdit}`);
    },
    async send(client, options, originalOf) {
      requireUnchanged(request.tool, consent);
      return { status: "result", result: await client.callToolResult(originalOf(tool.name), args, options), ...edit };
    },
    outcomeOfError(error) {
      const result = uncheckedResult(error);
      if (result) return { status: "result", result, mismatch: error.message, ...edit };
      return { status: "failed", message: reasonForModel(server, error), error, mayHaveRun: mayHaveRun(error) };
    },
  };
}

/** Asks for consent. Returns undefined if the question was withdrawn, because the server is removed. */
async function decide(
  { tool, arguments: args, origin }: ToolCallRequest,
  consent: ToolConsent,
  call: ActiveCall,
): Promise<CallDecision | undefined> {
  const onActivity = call.report.bind(call);
  try {
    return await consent.calls.check({ tool, arguments: args, origin, onActivity }, call.signal);
  } catch (error) {
    call.throwIfAborted();
    if (call.signal.aborted) return undefined;
    throw error;
  }
}

function denialOutcome(message: string): ToolOutcome {
  return { status: "denied", message };
}

/** Returns the outcome of a call whose arguments do not match the schema. The server received nothing. */
function invalid(message: string): ToolOutcome {
  return { status: "failed", message, error: new TypeError(message), mayHaveRun: false };
}

/** Returns a sentence for the model if the arguments do not match the input schema. */
async function problemOf({ name, tool }: CatalogueTool, args: object): Promise<string | undefined> {
  try {
    const issues = await validateJson(tool.inputSchema, args);
    if (issues.length === 0) return undefined;
    const problems = issues.slice(0, 5).map(({ path, message }) => `${path || "/"} ${message}`);
    return `The arguments of ${JSON.stringify(name)} do not match its schema: ${problems.join("; ")}.`;
  } catch {
    // The schema cannot be checked here, so the server checks the arguments.
    return undefined;
  }
}

/** Throws if the definition has changed while the user decided or the connection was opened. */
function requireUnchanged({ server, tool }: CatalogueTool, consent: ToolConsent): void {
  if (consent.definitions.isUsable(server, "tool", { name: tool.name, definition: tool })) return;
  const message = `The definition of ${JSON.stringify(tool.name)} has changed since it was listed. The user must review it.`;
  throw new LocalError("declined", message, { data: { safeToRepeat: true } });
}

/** Returns the result in the error for one that does not match the output schema of its tool. */
function uncheckedResult(error: Error): CallToolResult | undefined {
  if (!(error instanceof LocalError) || error.code !== "invalid_result") return undefined;
  return (error.data as { result?: CallToolResult } | undefined)?.result;
}

/**
 * Returns the reason of a failed call for the model. Unlike the error, it has neither the path of a program nor the name of a function that
 * only a developer can call.
 */
function reasonForModel(server: string, error: Error): string {
  if (!(error instanceof LocalError)) return error.message;
  const subject = `The server ${JSON.stringify(server)}`;
  const { server: unavailableServer, missingScopes, exitCode, hasSignIn } = dataOf(error);
  const isUnavailable = unavailableServer !== undefined;
  const end = typeof exitCode === "number" ? `ended with code ${exitCode}` : "ended";
  switch (error.code) {
    case "exited":
      return isUnavailable ? `${subject} ${end}. ${laterAdvice}` : `${subject} ${end} before it answered the call.`;
    case "closed":
    case "session_lost":
      return isUnavailable
        ? `${subject} is not available. ${laterAdvice}`
        : `The connection to the server ${JSON.stringify(server)} ended before it answered the call.`;
    case "unreachable":
      return `${subject} cannot be reached or started. ${laterAdvice}`;
    case "timeout":
      return `${subject} did not answer within the time limit.`;
    case "unauthorized":
    case "sign_in_required":
      if (hasSignIn === false) return `${subject} requires a token or a key in its configuration. Tell the user.`;
      return Array.isArray(missingScopes)
        ? `${subject} requires scopes that the user has not granted: ${missingScopes.join(" ")}.`
        : `${subject} requires a sign-in of the user. Tell the user.`;
    case "declined":
      return isUnavailable
        ? `The user has not allowed the use of the server ${JSON.stringify(server)}.`
        : error.message;
    default:
      return isUnavailable ? `${subject} is not available. ${laterAdvice}` : error.message;
  }
}

const laterAdvice = "Repeat the call later, or tell the user.";

function dataOf({ data }: LocalError): Readonly<Record<string, unknown>> {
  return isObject(data) ? data : {};
}

/** The client states whether a call can be repeated. A server that refuses a method or its params has not run it. */
function mayHaveRun(error: Error): boolean {
  if (error instanceof ProtocolError) return error.code !== -32601 && error.code !== -32602;
  return !(error instanceof LocalError && (dataOf(error).safeToRepeat === true || error.code === "unreachable"));
}
