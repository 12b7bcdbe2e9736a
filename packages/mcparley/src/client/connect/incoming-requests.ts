import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import {
  type JsonObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
  failure,
  isFailure,
  success,
} from "../../rpc/messages.ts";
import { ErrorCode } from "../../mcp/errors.ts";

/** Maximum number of requests of the server that may wait for an answer. Each may wait for the user. */
const maxIncoming = 100;

/** Maximum number of responses that are sent at the same time. Over HTTP each is a request of its own. */
const maxSending = 8;

/** The requests of the server on one connection that have no answer yet. */
export interface IncomingRequests {
  /** Answers a request. The response is sent later. */
  answer(request: JsonRpcRequest): void;
  /** Cancels a request on behalf of the server. Returns false if no such request waits for an answer. */
  cancel(id: unknown): boolean;
  /** Aborts all requests. No further response is sent. */
  end(reason: LocalError): void;
}

interface IncomingInit {
  /** Returns the result for a request. Undefined sends no response. A `ProtocolError` is sent to the server unchanged. */
  answer(this: void, request: JsonRpcRequest, signal: AbortSignal): Promise<JsonObject | undefined>;
  /** Sends a response. Never rejects. */
  send(this: void, response: JsonRpcResponse): Promise<void> | undefined;
  /** Called with each error of this side. The server does not receive it. */
  report(this: void, error: unknown): void;
}

/** Makes the part of a connection that answers requests of the server. */
export function incomingRequests({ answer, send, report }: IncomingInit): IncomingRequests {
  const waiting = new Map<unknown, AbortController>();
  /** Responses that wait until others are sent. */
  const queue: JsonRpcResponse[] = [];
  let sending = 0;

  async function respond(request: JsonRpcRequest): Promise<void> {
    const { id } = request;
    const controller = new AbortController();
    waiting.set(id, controller);
    let response: JsonRpcResponse | undefined;
    try {
      if (waiting.size > maxIncoming) {
        const message = `More than ${maxIncoming} requests are already waiting for a response.`;
        throw new ProtocolError(ErrorCode.InvalidRequest, message);
      }
      const result = await answer(request, controller.signal);
      if (result) response = success(id, result);
    } catch (error) {
      const isForServer = error instanceof ProtocolError;
      if (!isForServer && !controller.signal.aborted) report(error);
      const sent = isForServer ? error : new ProtocolError(ErrorCode.InternalError, "Internal error");
      response = failure(id, sent.toBody());
    }
    waiting.delete(id);
    if (response && !controller.signal.aborted) await sendInTurn(response);
  }

  /** Sends a response. A server that sends more requests than can be refused receives no response to some of them. */
  async function sendInTurn(response: JsonRpcResponse): Promise<void> {
    if (sending >= maxSending) {
      const isFull = queue.length >= maxIncoming && isFailure(response);
      if (!isFull) queue.push(response);
      return;
    }
    sending++;
    for (let next: JsonRpcResponse | undefined = response; next; next = queue.shift()) await send(next);
    sending--;
  }

  return {
    answer: (request) => void respond(request),
    cancel(id) {
      const controller = waiting.get(id);
      controller?.abort(new LocalError("aborted", "The server cancelled its request."));
      return controller !== undefined;
    },
    end(reason) {
      queue.length = 0;
      for (const controller of waiting.values()) controller.abort(reason);
    },
  };
}
