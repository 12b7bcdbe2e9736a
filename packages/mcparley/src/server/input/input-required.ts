import type { InputRequest } from "../../mcp/input-required.ts";
import { Method } from "../../mcp/methods.ts";

/** What can be asked inside a result. */
const questions: ReadonlySet<string> = new Set([Method.elicit, Method.createMessage, Method.listRoots]);

/** What a handler returns to ask in the wire's own form. Made by `inputRequired`. */
export class InputRequired {
  readonly inputRequests: Record<string, InputRequest>;
  readonly requestState: string | undefined;

  constructor(inputRequests: Record<string, InputRequest>, requestState: string | undefined) {
    this.inputRequests = inputRequests;
    this.requestState = requestState;
  }
}

/**
 * Ends a call with questions, in the wire's own form (2026-07-28, basic/patterns/mrtr).
 *
 * The handler runs again with the answers in `ctx.inputResponses` and its state in `ctx.requestState`, on every
 * revision; the state is sealed on its way through the client. Give at least one of the two. `ctx.elicit` and its
 * siblings are the usual way to ask.
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
    if (!questions.has(method))
      throw new TypeError(`inputRequired cannot ask ${method}, only ${[...questions].join(", ")}.`);
  }
  return new InputRequired(inputRequests, requestState);
}
