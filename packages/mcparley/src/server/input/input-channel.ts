import type { Awaitable } from "../../rpc/awaitable.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import { type ClientCapabilities, canElicit } from "../../mcp/capabilities.ts";
import { type Budget, checkBudget } from "../../schema/budget.ts";
import type { InputRequired } from "./input-required.ts";

/** One question of a handler to the client, in the neutral shape. */
export interface Question<T = unknown> {
  method: string;
  params: JsonObject;
  key: string | undefined;
  /** The capability that the client must have declared. */
  requires: ClientCapabilities;
  /** Reads the client's answer. Throws `InvalidAnswer` for one that does not fit, so that it is asked again. */
  read(result: unknown): T | Promise<T>;
}

/** An answer that is well-formed and yet not what was asked for. */
export class InvalidAnswer extends LocalError {
  constructor(message: string) {
    super("invalid_message", message);
  }
}

/** Reads a client's answer. Throws `InvalidAnswer` if it is nested too deep or too large for anything to look at it. */
export function readAnswer<T>(question: Question<T>, answer: unknown, limits: Budget): T | Promise<T> {
  const excess = checkBudget(answer, limits);
  if (excess) throw new InvalidAnswer(`The answer to ${question.method} cannot be used. ${excess}`);
  return question.read(answer);
}

/** How a call's handler reaches its client: by requests on a legacy session, by the call's own result on a modern one. */
export interface Asking {
  readonly inputResponses: JsonObject;
  readonly requestState: string | undefined;
  ask<T>(question: Question<T>): Promise<T>;
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>;
  /** The result that takes the place of the handler's, where questions of it are open once it has ended. */
  interrupted(): Promise<JsonObject | undefined>;
  /** What has been asked and recorded until now, to go on from in another way. */
  soFar(): Recorded;
  /** Goes on from what a handler returned in the wire's own form; `run` runs the handler again. */
  goOn(wanted: InputRequired, run: Run): Promise<JsonObject | Prepared>;
}

/** What a handler was answered and has recorded, by key. */
export interface Recorded {
  answers: [key: string, answer: unknown][];
  once: [key: string, value: unknown][];
  /** How many questions without a key of their own were asked. */
  order: number;
}

export type Run = () => Awaitable<JsonObject | Prepared | InputRequired>;

/** Throws -32021, which names the capability, where the client has not declared what a question requires. */
export function requireCapability(declared: ClientCapabilities, required: ClientCapabilities): void {
  if (isDeclared(declared, required)) return;
  const names = Object.keys(required).flatMap((name) => {
    const inner = Object.keys((required[name] as JsonObject | undefined) ?? {});
    return inner.length === 0 ? [name] : inner.map((part) => `${name}.${part}`);
  });
  throw new ProtocolError(
    ErrorCode.MissingRequiredClientCapability,
    `This request needs the client capability ${names.join(", ")}, which the client has not declared.`,
    { data: { requiredCapabilities: required } },
  );
}

function isDeclared(declared: ClientCapabilities, required: ClientCapabilities): boolean {
  const { elicitation, sampling, roots } = required;
  if (elicitation && !canElicit(declared, elicitation.url ? "url" : "form")) return false;
  if (roots && !declared.roots) return false;
  if (!sampling) return true;
  if (!declared.sampling) return false;
  return !sampling.tools || !!declared.sampling.tools;
}

/** The capability that a question in the wire's own form requires. */
export function capabilityFor(method: string, params: JsonObject): ClientCapabilities {
  const [feature] = method.split("/");
  if (feature === "elicitation") return { elicitation: params.mode === "url" ? { url: {} } : { form: {} } };
  if (feature === "sampling") return { sampling: params.tools || params.toolChoice ? { tools: {} } : {} };
  return { roots: {} };
}
