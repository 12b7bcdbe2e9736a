import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import { redact } from "../../rpc/redact.ts";
import { auditing } from "./audit.ts";
import type { Call } from "../dispatch/call.ts";
import type { Principal } from "../dispatch/context.ts";
import { logging } from "./logging.ts";
import { SeenCall } from "./observed-call.ts";
import type { CallEnd, CallRun, Refusal, ServerObserver, SessionEnd } from "./observer.ts";
import type { AnyServerDefinition } from "../options.ts";

const maxWhat = 200;

/** An error that says why a request was refused: one of the protocol, or of HTTP. */
export interface RefusalError {
  readonly message: string;
  readonly status?: number | undefined;
  /** The JSON-RPC code, which a refusal of HTTP has among its options. */
  readonly code?: number;
  readonly options?: { readonly code?: number };
}

/** Tells everyone who watches over a server of what it does. */
export class Observing {
  readonly #observers: readonly ServerObserver[];
  readonly #onError: AnyServerDefinition["onError"];
  readonly #clock: Clock;

  constructor({ audit, logger, observers = [], onError }: AnyServerDefinition, clock: Clock) {
    this.#observers = [...observers, ...(logger ? [logging(logger)] : []), ...(audit ? [auditing(audit)] : [])];
    this.#onError = onError;
    this.#clock = clock;
  }

  /** Answers a call under the eyes of the observers, which are told exactly once how it ended. */
  async call<T extends JsonObject | Prepared>(call: Call, answer: () => Awaitable<T>): Promise<T> {
    const seen = new SeenCall(call);
    const runs = this.#observers.flatMap((observer) => this.#guarded(() => observer.started?.(seen)) ?? []);
    const end = (how: Pick<CallEnd, "outcome" | "code" | "message">): void => {
      const durationMs = call.core.clock.now() - seen.at;
      const outcome = call.cancelled ? "cancelled" : how.outcome;
      for (const run of runs) this.#guarded(() => run.ended({ ...how, outcome, durationMs }));
    };
    try {
      const result = await within(runs, answer)();
      end(endOf(result));
      return result;
    } catch (error) {
      end(endOfError(error));
      throw error;
    }
  }

  refused(what: string, principal: Principal | undefined, { message, status, code, options }: RefusalError): void {
    const refusal: Refusal = {
      at: this.#clock.now(),
      what: what.slice(0, maxWhat),
      principal,
      status,
      code: code ?? options?.code,
      reason: redact(message),
    };
    for (const observer of this.#observers) this.#guarded(() => observer.refused?.(refusal));
  }

  sessionEnded(end: SessionEnd): void {
    for (const observer of this.#observers) this.#guarded(() => observer.sessionEnded?.(end));
  }

  failed(error: unknown, call: Call | undefined): void {
    for (const observer of this.#observers) this.#guarded(() => observer.failed?.(error, call));
  }

  #guarded<T>(tell: () => T): T | undefined {
    try {
      return tell();
    } catch (error) {
      this.#onError?.(error, undefined);
      return undefined;
    }
  }
}

/** The answer inside of all runs, the first outermost. */
function within<T>(runs: readonly CallRun[], answer: () => T): () => T {
  return runs.reduceRight<() => T>((inner, run) => (run.within ? () => run.within!(inner) : inner), answer);
}

function endOf(result: JsonObject | Prepared): Pick<CallEnd, "outcome" | "code" | "message"> {
  const { isError, resultType } = result as JsonObject;
  const asks = resultType === "input_required";
  return {
    outcome: isError === true ? "tool_error" : asks ? "input_required" : "ok",
    code: undefined,
    message: undefined,
  };
}

function endOfError(error: unknown): Pick<CallEnd, "outcome" | "code" | "message"> {
  if (error instanceof ProtocolError) {
    const { code, message, status } = error;
    return { outcome: status === 403 || status === 429 ? "refused" : "error", code, message };
  }
  const timedOut = error instanceof LocalError && error.code === "timeout";
  return { outcome: timedOut ? "timeout" : "error", code: undefined, message: undefined };
}
