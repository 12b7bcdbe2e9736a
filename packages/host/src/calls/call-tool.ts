import { LocalError, ProtocolError } from "mcparley";
import { type CallToolResult, type Client, type RequestOptions, type Timeouts, validateJson } from "mcparley/client";
import { withAnySignal } from "../async/timing.ts";
import type { CallDecision } from "../consent/call-consent.ts";
import type { Consent } from "../consent/consent.ts";
import type { CallActivity } from "../activity/call-activity.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { SupervisedServer } from "../servers/supervised-server.ts";
import type { ActiveCalls } from "../activity/active-calls.ts";
import type { CallTool, ToolCallRequest } from "./tool-call.ts";
import type { ToolOutcome } from "../conversation/tool-outcome.ts";

/** A server, as the calls of its tools need it. */
interface CalledServer {
  readonly supervised: Pick<SupervisedServer, "use">;
  readonly calls: ActiveCalls;
  readonly timeout: Timeouts | undefined;
  /** Aborted when the server is removed. */
  readonly closed: AbortSignal;
}

/** The parts of a host that tool calls need. */
export interface CallParts {
  readonly consent: Pick<Consent, "checkCall" | "isUsable">;
  /** Returns a server that is not disabled. */
  readonly serverOf: (name: string) => CalledServer | undefined;
  readonly secrets: KnownSecrets;
}

/** Returns the function that calls tools: arguments, consent, connection, definition, call. */
export function createCallTool(parts: CallParts): CallTool {
  return async (request) => {
    const { signal } = request;
    signal?.throwIfAborted();
    const { name } = request.tool.tool;
    const server = parts.serverOf(request.tool.server);
    if (!server) return denied(missingServer(request));
    const problem = await problemOf(request, request.arguments);
    if (problem !== undefined) return invalid(problem);
    const decision = await decide(parts, request, server);
    if (!decision.allowed) return denied(decision.message);
    const edited = decision.isEdited ? await problemOf(request, decision.arguments) : undefined;
    if (edited !== undefined) return invalid(`The user edited the arguments. ${edited}`);
    return await withActivity(request, server, async (options) => {
      const work = (client: Client): Promise<CallToolResult> => {
        requireUnchanged(parts, request);
        return client.callToolResult(name, decision.arguments, options);
      };
      const outcome = await toOutcome(parts, request, server.supervised.use(work, { signal: options.signal }));
      if (outcome.status !== "result" || !decision.isEdited) return outcome;
      return { ...outcome, editedArguments: parts.secrets.hideIn(decision.arguments) };
    });
  };
}

/** The minimum level of log messages. Servers of 2026-07-28 send none about a call without a level. */
export const callLogLevel = "info";

/** Asks for consent. The question is withdrawn if the server is removed. */
async function decide(
  { consent }: CallParts,
  request: ToolCallRequest,
  { closed }: CalledServer,
): Promise<CallDecision> {
  const { signal } = request;
  try {
    return await withAnySignal([signal, closed], (either) => consent.checkCall(request, either));
  } catch (error) {
    signal?.throwIfAborted();
    if (closed.aborted) return { allowed: false, message: missingServer(request) };
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

/** Runs a call that reports its activity, and that the host can end. */
async function withActivity(
  { tool, signal, onActivity }: ToolCallRequest,
  { calls, timeout }: CalledServer,
  run: (options: RequestOptions & { signal: AbortSignal }) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const ending = new AbortController();
  const report = (activity: CallActivity): void => onActivity?.(activity);
  const call = { method: "tools/call", name: tool.tool.name };
  const end = calls.begin(call, { onActivity: report, cancel: (reason) => ending.abort(reason) });
  try {
    return await withAnySignal([signal, ending.signal], (either) =>
      run({
        signal: either,
        ...(timeout && { timeout }),
        logLevel: callLogLevel,
        onProgress: (progress) => report({ type: "progress", progress }),
      }),
    );
  } finally {
    end();
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
  { signal }: ToolCallRequest,
  running: Promise<CallToolResult>,
): Promise<ToolOutcome> {
  try {
    return { status: "result", result: secrets.hideIn(await running) };
  } catch (thrown) {
    signal?.throwIfAborted();
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
