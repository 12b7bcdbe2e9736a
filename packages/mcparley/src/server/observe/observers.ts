import type { Clock } from "../../rpc/clock.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { guarded } from "../../rpc/guarded.ts";
import { type JsonObject, type Prepared, type RequestId, isObject } from "../../rpc/messages.ts";
import { printable } from "../../rpc/printable.ts";
import { redact } from "../../rpc/redact.ts";
import { Method } from "../../mcp/methods.ts";
import { type CallEnd, startCall } from "../../mcp/observe.ts";
import type { Call } from "../core/call.ts";
import type { Observers } from "../core/server-core.ts";
import type { Peer, Principal } from "../core/context.ts";
import type { AnyServerDefinition } from "../core/options.ts";
import type { ServerCall, ServerObserver } from "../core/observer.ts";

const maxWhat = 200;
const maxName = 500;
const maxArguments = 50;
/** Maximum number of different warnings of one server. */
const maxWarnings = 100;

/** Returns the functions that notify the observers of a server, and its author of warnings and hidden errors. */
export function observersOf(definition: AnyServerDefinition, clock: Clock): Observers {
  const { observers = [], onError, onWarning = warnOnConsole } = definition;
  const warnings = new Set<string>();
  const report = (error: unknown): void => {
    if (onError) onError(error, undefined);
    else toConsole(error);
  };
  const notify = (event: (observer: ServerObserver) => void): void => {
    for (const observer of observers) guarded(() => event(observer), report);
  };
  return {
    async call(call, answer) {
      const startTime = clock.now();
      const run = startCall(observers, new SeenCall(call, startTime), report);
      const end = (how: Omit<CallEnd, "durationMs">): void => {
        const outcome = call.cancelled ? "cancelled" : how.outcome;
        run.ended({ ...how, outcome, durationMs: clock.now() - startTime });
      };
      try {
        const result = await (run.within ? run.within(answer) : answer());
        end(endOfResult(result));
        return result;
      } catch (error) {
        end(endOfError(error));
        throw error;
      }
    },
    refused(what, principal, { message, status, code, options }) {
      const reason = redact(message);
      const refusal = { at: clock.now(), what: what.slice(0, maxWhat), principal, status, reason };
      notify((observer) => observer.refused?.({ ...refusal, code: code ?? options?.code }));
    },
    sessionEnded: (end) => notify((observer) => observer.sessionEnded?.(end)),
    failed(error, call) {
      notify((observer) => observer.failed?.(error, call));
      if (!onError) toConsole(error, observers);
    },
    warned(text) {
      if (warnings.has(text) || warnings.size >= maxWarnings) return;
      warnings.add(text);
      onWarning(text);
    },
  };
}

/**
 * The view of a call that observers receive. It reads from the call at each access. A call that stays open as a stream
 * releases its params and most of its peer, and an observer must not keep them in memory.
 */
class SeenCall implements ServerCall {
  readonly side = "server";
  readonly at: number;
  readonly #call: Call;

  constructor(call: Call, startTime: number) {
    this.#call = call;
    this.at = startTime;
  }

  get id(): RequestId {
    return this.#call.id;
  }

  get method(): string {
    return this.#call.method;
  }

  get name(): string | undefined {
    const { name, uri } = this.#call.params;
    const target = name ?? uri;
    return typeof target === "string" ? target.slice(0, maxName) : undefined;
  }

  get known(): boolean {
    const { core, method, params } = this.#call;
    if (!core.hasMethod(method)) return false;
    const { tools, prompts } = core.offering;
    if (method === Method.callTool) return tools.get(String(params.name)) !== undefined;
    return method !== Method.getPrompt || prompts.get(String(params.name)) !== undefined;
  }

  get revision(): string {
    return this.#call.peer.revision;
  }

  get peer(): Peer {
    return this.#call.peer;
  }

  get principal(): Principal | undefined {
    return this.#call.principal;
  }

  get meta(): Readonly<Record<string, unknown>> {
    return this.#call.meta;
  }

  get network(): "tcp" | "pipe" | undefined {
    return this.#call.network;
  }

  get arguments(): Record<string, string> {
    const { arguments: args } = this.#call.params;
    const types: [name: string, type: string][] = [];
    if (!isObject(args)) return {};
    // Observers also see calls whose arguments exceed the limits, so only the first arguments are read.
    for (const key in args) {
      if (types.length === maxArguments) break;
      if (Object.hasOwn(args, key)) types.push([key.slice(0, 100), typeName(args[key])]);
    }
    return Object.fromEntries(types);
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? `array(${value.length})` : typeof value;
}

function endOfResult(result: JsonObject | Prepared): Omit<CallEnd, "durationMs"> {
  const { isError, resultType } = result as JsonObject;
  const outcome = isError === true ? "tool_error" : resultType === "input_required" ? "input_required" : "ok";
  return { outcome, code: undefined, message: undefined };
}

function endOfError(error: unknown): Omit<CallEnd, "durationMs"> {
  if (error instanceof ProtocolError) {
    const { code, message, status } = error;
    return { outcome: status === 403 || status === 429 ? "refused" : "error", code, message };
  }
  const timedOut = error instanceof LocalError && error.code === "timeout";
  return { outcome: timedOut ? "timeout" : "error", code: undefined, message: undefined };
}

/** Maximum number of causes of an error that are written. */
const maxCauses = 5;

/** Writes a warning to the console. It may contain text of a caller. */
function warnOnConsole(text: string): void {
  // oxlint-disable-next-line no-console -- the default, so that the author sees it during development
  console.warn(printable(text));
}

/**
 * Writes an error and its causes to the console, unless one of the observers receives errors.
 *
 * Its message may contain text of a caller, which must not control the operator's terminal. The console shows the stack of
 * an error unchanged.
 */
export function toConsole(error: unknown, observers: readonly ServerObserver[] = []): void {
  if (observers.some((observer) => observer.failed !== undefined)) return;
  // oxlint-disable-next-line no-console -- the last resort, so that no defect goes unnoticed
  console.error(printable(describeError(error, 0)));
}

function describeError(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? String(error);
  const { cause } = error;
  return cause === undefined || depth >= maxCauses ? text : `${text}\nCaused by: ${describeError(cause, depth + 1)}`;
}
