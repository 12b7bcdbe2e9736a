import { LocalError } from "../../rpc/errors.ts";
import { revisions } from "../../mcp/revisions/index.ts";
import { isJson } from "../../rpc/is-json.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ServerCapabilities } from "../../mcp/capabilities.ts";
import { mayRequireInput, completeType, inputRequiredType } from "../../mcp/input-required.ts";
import { Method } from "../../mcp/methods.ts";
import { isExtensionList } from "../client-capabilities.ts";
import type { Session } from "../connect/session.ts";
import { guarded } from "../../rpc/guarded.ts";
import type { CallRecord } from "../../mcp/observe.ts";
import type { RequestOptions } from "../options.ts";
import { fromCache } from "../lists/cache.ts";
import {
  type Call,
  type CallRequest,
  type ClientCore,
  type Next,
  type Step,
  end,
  endOf,
  isWellNamed,
  makeCall,
  nameOf,
  unexpectedType,
} from "./call.ts";
import type * as OnDemand from "./on-demand.ts";
import { openFor, repair, sendRequest } from "./send-request.ts";

/** Number of calls in flight above which further calls wait before they are made, if the transport limits requests. */
const manyCalls = 100;

/** The steps before the request, in order, that a call may need. A step that does not concern a call is left out of it. */
const firstSteps: readonly { step: Step; concerns: (call: Call) => boolean }[] = [
  { step: fromCache, concerns: ({ core, method }) => core.cache?.covers(method) === true },
  {
    step: requireSession,
    concerns: ({ session, method, options }) =>
      !session || options.signal?.aborted === true || !isCapable(session, method),
  },
  {
    step: onDemand("takeTurn"),
    concerns: ({ core, session }) => core.running.size > manyCalls && session?.connection.hasTurns === true,
  },
  { step: onDemand("observe"), concerns: ({ core }) => core.options.observers !== undefined },
  { step: onDemand("extend"), concerns: ({ core }) => isExtensionList(core.options.extensions) },
  {
    step: onDemand("confirm"),
    concerns: ({ core, method }) => core.options.confirm !== undefined && method === Method.callTool,
  },
];

/** The steps of each call. */
const lastSteps: Next = { step: answerInput, next: { step: repair, next: { step: sendRequest, next: end } } };

/** Returns the steps that concern a call. */
function stepsOf(call: Call): Next {
  let steps = lastSteps;
  for (let index = firstSteps.length - 1; index >= 0; index--) {
    const { step, concerns } = firstSteps[index]!;
    if (concerns(call)) steps = { step, next: steps };
  }
  return steps;
}

/** Makes one call and returns its final result. */
export async function perform(
  core: ClientCore,
  request: CallRequest,
  options: RequestOptions = {},
): Promise<JsonObject> {
  const call = makeCall(core, request, options);
  const at = core.clock.now();
  let ended: Pick<CallRecord, "outcome" | "code"> = { outcome: "ok", code: undefined };
  core.running.add(call);
  try {
    if (!isJson(request.params) || !isJson(options.meta) || !isWellNamed(request.params))
      (await import("./on-demand.ts")).requireJson(call);
    const first = stepsOf(call);
    const result = await first.step(call, first.next);
    const checking = request.checksResult && checkAgainstSchema(call, result);
    if (checking) await checking;
    if (call.method === Method.callTool && result.isError === true) ended = { outcome: "tool_error", code: undefined };
    return result;
  } catch (error) {
    ended = endOf(error);
    throw error;
  } finally {
    core.running.delete(call);
    const isAnswered = typeof ended.code !== "string";
    call.watchers?.forEach((watcher) => watcher(call, isAnswered));
    record(core, call, { at, ...ended });
  }
}

/** Calls `onCall` with the record of a finished call. */
function record(core: ClientCore, { method, params }: Call, ended: Pick<CallRecord, "at" | "outcome" | "code">): void {
  const { clock, transports, sessions, options } = core;
  const { onCall } = options;
  if (!onCall) return;
  const finished: CallRecord = {
    kind: "call",
    ...ended,
    durationMs: clock.now() - ended.at,
    method,
    name: nameOf(params),
    target: transports.target,
    revision: sessions.current?.revision.version,
  };
  guarded(() => onCall(finished), core.report);
}

/** Opens a session if there is none. Throws `not_capable` for a request that the server cannot answer. */
async function requireSession(call: Call, next: Next): Promise<JsonObject> {
  const { method } = call;
  const session = await openFor(call);
  call.session = session;
  if (!isCapable(session, method)) {
    const { notCapable } = await import("./on-demand.ts");
    throw notCapable(session, method, neededCapabilities[method]);
  }
  return next.step(call, next.next);
}

/** The capabilities that methods need. */
const neededCapabilities: Readonly<Record<string, keyof ServerCapabilities & string>> = {
  [Method.listTools]: "tools",
  [Method.callTool]: "tools",
  [Method.listPrompts]: "prompts",
  [Method.getPrompt]: "prompts",
  [Method.listResources]: "resources",
  [Method.listResourceTemplates]: "resources",
  [Method.readResource]: "resources",
  [Method.subscribe]: "resources",
  [Method.unsubscribe]: "resources",
  [Method.complete]: "completions",
  [Method.setLevel]: "logging",
};

/**
 * Whether the server can answer a request: its revision has the method, and it has declared the capability of the method.
 * Methods of extensions need no capability.
 */
function isCapable({ revision, server }: Session, method: string): boolean {
  if (!revision.clientRequests.has(method)) return !revisions.some(({ clientRequests }) => clientRequests.has(method));
  const capability = Object.hasOwn(neededCapabilities, method) ? neededCapabilities[method] : undefined;
  if (capability === undefined || server.capabilities[capability]) return true;
  // Before a revision defined this capability, servers had the feature without declaring it.
  return capability === "completions" && !revision.completionsCapability;
}

let steps: typeof OnDemand | undefined;
type StepName = "confirm" | "extend" | "observe" | "takeTurn";

/** Returns a step whose code is loaded with the first call that it concerns. Most clients need none of them. */
function onDemand(name: StepName): Step {
  return (call, next) => (steps ? steps[name](call, next) : loadStep(name, call, next));
}

async function loadStep(name: StepName, call: Call, next: Next): Promise<JsonObject> {
  steps = await import("./on-demand.ts");
  return steps[name](call, next);
}

/** Checks the result of a tool that was listed with an output schema. The result of a failed tool is not checked. */
function checkAgainstSchema(call: Call, result: JsonObject): Promise<void> | undefined {
  const known = call.core.tools.get(call.params.name);
  if (!known?.tool.outputSchema || result.isError) return undefined;
  // The evaluator of JSON Schemas is too large for the start, and many tools have no output schema.
  return import("./check-result.ts").then(({ checkResult }) => checkResult(call, known, result));
}

/** Maximum number of rounds in which a server may ask for more input to one call. */
const maxRounds = 32;

/** Answers the input requests in a result, and sends the call again with the answers (2026-07-28, basic/patterns/mrtr). */
async function answerInput(call: Call, next: Next): Promise<JsonObject> {
  for (let round = 0; round < maxRounds; round++) {
    const result = await next.step(call, next.next);
    if (!wantsInput(call, result)) return result;
    const { answersTo } = await import("./on-demand.ts");
    call.answers = await answersTo(call, result, round);
  }
  throw new LocalError("invalid_message", `The server requested input for ${call.what} more than ${maxRounds} times.`);
}

/** Whether a result asks for input. Throws if its type is unknown, or not allowed for the method. */
function wantsInput(call: Call, { resultType = completeType }: JsonObject): boolean {
  const { core, method, session } = call;
  if (!session?.revision.typedResults || resultType === completeType) return false;
  // The step `extend` checks the types of extensions. If they are only declared, the caller handles their results.
  if (resultType !== inputRequiredType && core.options.extensions) return false;
  const isAllowed = mayRequireInput.has(method) || !session.revision.clientRequests.has(method);
  if (resultType === inputRequiredType && isAllowed) return true;
  throw unexpectedType(call, resultType);
}
