import type { Awaitable } from "../../rpc/awaitable.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { JsonObject, JsonRpcErrorBody, Prepared } from "../../rpc/messages.ts";
import { type ClientCapabilities, canElicit } from "../../mcp/capabilities.ts";
import { type Budget, checkBudget } from "../../schema/budget.ts";
import type { Progress } from "../../mcp/progress.ts";
import type { InputRequired } from "./input-required.ts";

/** A request of the server to the client, in the shape of the newest revision: elicitation, sampling or roots. */
export interface ServerRequest<T = unknown> {
  method: string;
  params: JsonObject;
  key: string | undefined;
  /** The capability that the client must have declared. */
  requires: ClientCapabilities;
  /** Called with each progress that the client reports. Only on revisions up to 2025-11-25. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Reads the client's response. Throws `InvalidResponse` if it does not match the request. */
  read(result: unknown): T | Promise<T>;
}

/** A response of the client that does not match the request. The request is sent again. */
export class InvalidResponse extends LocalError {
  constructor(message: string) {
    super("invalid_message", message);
  }
}

/**
 * The error of a call whose client refused an input request. It has another code than the refusal: the caller would take
 * "Method not found" for its own method.
 */
export function refusedInput(method: string, { code, message, data }: JsonRpcErrorBody): ProtocolError {
  const text = `The client answered ${method} with ${code}: ${message.slice(0, 500)}`;
  return new ProtocolError(ErrorCode.InvalidRequest, text, {
    data: { method, code },
    cause: new ProtocolError(code, message, { data }),
  });
}

/** Reads a client's response. Throws `InvalidResponse` if it does not match, is nested too deep or is too large. */
export function readResponse<T>(request: ServerRequest<T>, response: unknown, limits: Budget): T | Promise<T> {
  const excess = checkBudget(response, limits);
  if (excess) throw new InvalidResponse(`The response to ${request.method} cannot be used. ${excess}`);
  return request.read(response);
}

/** Sends input requests of a handler: as requests in a legacy session, in the result of the call in a modern revision. */
export interface InputChannel {
  readonly inputResponses: JsonObject;
  readonly requestState: string | undefined;
  request<T>(request: ServerRequest<T>): Promise<T>;
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>;
  /** Returns the result that replaces the handler's if requests are pending when the handler ends. */
  pendingResult(): Promise<JsonObject | undefined>;
  /** Returns the recorded responses and values, for a channel that replaces this one. */
  recorded(): Recorded;
  /** Sends the input requests that the handler returned. `run` runs the handler again with the responses. */
  continueWith(wanted: InputRequired, run: Run): Promise<JsonObject | Prepared>;
}

/** The responses that a handler received and the values that it recorded with `once`, by key. */
export interface Recorded {
  answers: [key: string, answer: unknown][];
  once: [key: string, value: unknown][];
  /** Number of requests without a key. */
  order: number;
}

export type Run = () => Awaitable<JsonObject | Prepared | InputRequired>;

/** Throws -32021, naming the capability, if the client has not declared the required capability. */
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

/** Returns the capability that an input request requires. */
export function capabilityFor(method: string, params: JsonObject): ClientCapabilities {
  const [feature] = method.split("/");
  if (feature === "elicitation") return { elicitation: params.mode === "url" ? { url: {} } : { form: {} } };
  if (feature === "sampling") return { sampling: params.tools || params.toolChoice ? { tools: {} } : {} };
  return { roots: {} };
}
