import { LocalError, ProtocolError } from "mcparley";
import { type CallToolResult, validateJson } from "mcparley/client";
import type { ActiveCall } from "../activity/active-calls.ts";
import type { CallActivity } from "../activity/call-activity.ts";
import type { CallDecision } from "../consent/call-consent.ts";
import type { Consent } from "../consent/consent.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { ToolOutcome } from "../conversation/tool-outcome.ts";
import { type CalledServer, sendRequest } from "./called-server.ts";
import type { CallTool, ToolCallRequest } from "./tool-call.ts";

/** The parts of a host that tool calls need. */
export interface CallParts {
  readonly consent: Pick<Consent, "checkCall" | "isUsable">;
  /** Returns a server that is not disabled. Throws if the host is closed. */
  readonly serverOf: (name: string) => CalledServer | undefined;
  readonly secrets: KnownSecrets;
}

/** Returns the function that calls tools: arguments, consent, connection, definition, call. */
export function createCallTool(parts: CallParts): CallTool {
  return async (request) => {
    const { tool, signal, onActivity } = request;
    signal?.throwIfAborted();
    const server = parts.serverOf(tool.server);
    if (!server) return denied(missingServer(request));
    const start = { method: "tools/call", name: tool.tool.name, signal, onActivity };
    return server.calls.run(start, (call) => callServer(parts, request, { server, call }));
  };
}

async function callServer(
  parts: CallParts,
  request: ToolCallRequest,
  { server, call }: { server: CalledServer; call: ActiveCall },
): Promise<ToolOutcome> {
  const problem = await problemOf(request, request.arguments);
  if (problem !== undefined) return invalid(problem);
  const decision = await decide(parts, request, call);
  if (!decision.allowed) return denied(decision.message);
  call.isAllowed = true;
  const edited = decision.isEdited ? await problemOf(request, decision.arguments) : undefined;
  if (edited !== undefined) return invalid(`The user edited the arguments. ${edited}`);
  const result = sendRequest(server, call, (client, options) => {
    requireUnchanged(parts, request);
    return client.callToolResult(request.tool.tool.name, decision.arguments, options);
  });
  const outcome = await toOutcome(parts, call, result);
  if (outcome.status !== "result" || !decision.isEdited) return outcome;
  return { ...outcome, editedArguments: parts.secrets.hideIn(decision.arguments) };
}

/** Asks for consent. The question is withdrawn if the server is removed. */
async function decide({ consent }: CallParts, request: ToolCallRequest, call: ActiveCall): Promise<CallDecision> {
  const { tool, arguments: args, origin } = request;
  const onActivity = (activity: CallActivity): void => call.report(activity);
  try {
    return await consent.checkCall({ tool, arguments: args, origin, onActivity }, call.signal);
  } catch (error) {
    call.throwIfAborted();
    if (call.signal.aborted) return { allowed: false, message: missingServer(request) };
    throw error;
  }
}

function missingServer({ tool }: ToolCallRequest): string {
  return `The server ${JSON.stringify(tool.server)} was removed or is disabled.`;
}

function denied(message: string): ToolOutcome {
  return { status: "denied", message };
}

/** Returns the outcome of a call whose arguments do not match the schema. The server received nothing. */
function invalid(message: string): ToolOutcome {
  return { status: "failed", message, error: new TypeError(message), mayHaveRun: false };
}

/** Returns a sentence for the model if the arguments do not match the input schema. */
async function problemOf({ tool }: ToolCallRequest, args: object): Promise<string | undefined> {
  try {
    const issues = await validateJson(tool.tool.inputSchema, args);
    if (issues.length === 0) return undefined;
    const shown = issues.slice(0, 5).map(({ path, message }) => `${path || "/"} ${message}`);
    return `The arguments of ${JSON.stringify(tool.name)} do not match its schema: ${shown.join("; ")}.`;
  } catch {
    // The schema cannot be checked here, so the server checks the arguments.
    return undefined;
  }
}

/** Throws if the definition has changed while the user decided or the connection was opened. */
function requireUnchanged({ consent }: CallParts, { tool }: ToolCallRequest): void {
  const { server, tool: definition } = tool;
  if (consent.isUsable(server, "tool", { name: definition.name, definition })) return;
  const message = `The definition of ${JSON.stringify(definition.name)} has changed since it was listed. The user must review it.`;
  throw new LocalError("declined", message, { data: { safeToRepeat: true } });
}

async function toOutcome(
  { secrets }: CallParts,
  call: ActiveCall,
  running: Promise<CallToolResult>,
): Promise<ToolOutcome> {
  try {
    return { status: "result", result: secrets.hideIn(await running) };
  } catch (thrown) {
    call.throwIfAborted();
    const error = secrets.hideInError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    const result = uncheckedResult(error);
    if (result) return { status: "result", result, mismatch: error.message };
    return { status: "failed", message: error.message, error, mayHaveRun: mayHaveRun(thrown) };
  }
}

/** Returns the result in the error for one that does not match the output schema of its tool. */
function uncheckedResult(error: Error): CallToolResult | undefined {
  if (!(error instanceof LocalError) || error.code !== "invalid_result") return undefined;
  return (error.data as { result?: CallToolResult } | undefined)?.result;
}

/** The client states whether a call can be repeated. A server that refuses a method or its params has not run it. */
function mayHaveRun(thrown: unknown): boolean {
  if (thrown instanceof ProtocolError) return thrown.code !== -32601 && thrown.code !== -32602;
  const data = thrown instanceof LocalError ? thrown.data : undefined;
  const isSafe = typeof data === "object" && data !== null && "safeToRepeat" in data && data.safeToRepeat === true;
  return !isSafe && !(thrown instanceof LocalError && thrown.code === "unreachable");
}
