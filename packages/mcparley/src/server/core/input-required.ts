import type { InputRequest } from "../../mcp/input-required.ts";
import { Method } from "../../mcp/methods.ts";

/** Methods that can be used as input requests. */
const requestMethods: ReadonlySet<string> = /* @__PURE__ */ (() =>
  new Set<string>([Method.elicit, Method.createMessage, Method.listRoots]))();

/** A handler's result that requests input from the client. Made by `inputRequired`. */
export class InputRequired {
  /** The requests that the client must answer, by key. */
  readonly inputRequests: Record<string, InputRequest>;
  /** State for the next round. It is sealed before it is sent. */
  readonly requestState: string | undefined;

  constructor(inputRequests: Record<string, InputRequest>, requestState: string | undefined) {
    this.inputRequests = inputRequests;
    this.requestState = requestState;
  }
}

/**
 * Makes a result that requests input from the client, in the form of the protocol (2026-07-28, basic/patterns/mrtr).
 *
 * On every revision the handler runs again with the responses in `ctx.inputResponses` and its state in `ctx.requestState`.
 * The client receives the state only in sealed form. Set at least one of the two options. In most cases `ctx.elicit`,
 * `ctx.sample` and `ctx.roots` are easier to use. Throws `TypeError` for a method that is no input request.
 *
 * @example
 * ```ts
 * import { inputRequired, tool } from "mcparley/server";
 *
 * const count = tool({
 *   description: "Counts the roots of the client.",
 *   call: (_, ctx) => {
 *     const roots = ctx.inputResponses.roots as { roots: unknown[] } | undefined;
 *     return roots ? `${roots.roots.length} roots` : inputRequired({ inputRequests: { roots: { method: "roots/list" } } });
 *   },
 * });
 * ```
 */
export function inputRequired(wanted: {
  inputRequests?: Record<string, InputRequest>;
  requestState?: string;
}): InputRequired {
  const { inputRequests = {}, requestState } = wanted;
  if (requestState === undefined && Object.keys(inputRequests).length === 0) {
    throw new TypeError("inputRequired needs inputRequests, a requestState, or both.");
  }
  for (const { method } of Object.values(inputRequests)) {
    if (!requestMethods.has(method))
      throw new TypeError(`inputRequired cannot send ${method}, only ${[...requestMethods].join(", ")}.`);
  }
  return new InputRequired(inputRequests, requestState);
}
