import { type JsonRpcMessage, type RequestId, isObject, isRequest } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { modernVersionOf } from "./headers.ts";

/** One POST and the answers it waits for. */
export interface Posted {
  /** The requests in it that are not answered yet. */
  readonly waiting: Set<RequestId>;
  /** Names it in errors. */
  readonly what: string;
  readonly isModern: boolean;
  readonly isInitialize: boolean;
  /** It waits for authorization: the server has not taken it. */
  isHeld: boolean;
  /** Ends its request and the stream of its response. */
  readonly controller: AbortController;
}

/** The POSTs of one transport whose answers have not all arrived, by the id of each request. */
export class PostedRequests {
  readonly #byId = new Map<RequestId, Posted>();
  readonly #open = new Set<Posted>();

  open(messages: readonly JsonRpcMessage[]): Posted {
    const requests = messages.filter(isRequest);
    const posted: Posted = {
      waiting: new Set(requests.map(({ id }) => id)),
      what: [...new Set(requests.map(({ method }) => method))].join(", ").slice(0, 200),
      isModern: messages.some((message) => modernVersionOf(message) !== undefined),
      isInitialize: requests.some(({ method }) => method === Method.initialize),
      isHeld: false,
      controller: new AbortController(),
    };
    for (const id of posted.waiting) this.#byId.set(id, posted);
    this.#open.add(posted);
    return posted;
  }

  find(id: unknown): Posted | undefined {
    return this.#byId.get(id as RequestId);
  }

  /** Notes the answers among what has arrived; says whether the value holds any. */
  note(value: unknown): boolean {
    if (Array.isArray(value)) return value.map((one) => this.note(one)).includes(true);
    if (!isObject(value) || "method" in value) return false;
    return this.settle(value.id as RequestId);
  }

  /** Stops waiting for one answer. */
  settle(id: RequestId): boolean {
    const posted = this.#byId.get(id);
    if (!posted) return false;
    posted.waiting.delete(id);
    this.#byId.delete(id);
    return true;
  }

  /** Forgets a POST whose response has ended; gives the ids that were not answered. */
  end(posted: Posted): RequestId[] {
    this.#open.delete(posted);
    const unanswered = [...posted.waiting];
    for (const id of unanswered) this.settle(id);
    return unanswered;
  }

  /** Ends every request and response without waiting for more. */
  abortAll(reason: Error): void {
    for (const { controller } of this.#open) controller.abort(reason);
  }
}
