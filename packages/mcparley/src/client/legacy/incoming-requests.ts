import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonRpcRequest, type JsonRpcResponse, failure, isFailure, success } from "../../rpc/messages.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { ClientConnection } from "../connect/client-connection.ts";
import type { ClientCore } from "../core.ts";
import { answerRequest } from "./server-requests.ts";

/** Maximum number of requests of the server that may wait for an answer. Each may wait for the user. */
const maxIncoming = 100;

/** Maximum number of responses that are sent at the same time. Over HTTP each is a request of its own. */
const maxSending = 8;

/** Answers the requests of the server on a connection. */
export function acceptRequests(core: ClientCore, connection: ClientConnection): void {
  const waiting = new Map<unknown, AbortController>();
  /** Responses that wait until others are sent. */
  const queue: JsonRpcResponse[] = [];
  let sending = 0;

  async function respond(request: JsonRpcRequest): Promise<void> {
    const { id } = request;
    const controller = new AbortController();
    waiting.set(id, controller);
    let response: JsonRpcResponse;
    try {
      if (waiting.size > maxIncoming) {
        const message = `More than ${maxIncoming} requests are already waiting for a response.`;
        throw new ProtocolError(ErrorCode.InvalidRequest, message);
      }
      response = success(id, await answerRequest(core, request, { signal: controller.signal, connection }));
    } catch (error) {
      const isForServer = error instanceof ProtocolError;
      if (!isForServer && !controller.signal.aborted) core.report(error);
      const errorForServer = isForServer ? error : new ProtocolError(ErrorCode.InternalError, "Internal error");
      response = failure(id, errorForServer.toBody());
    }
    waiting.delete(id);
    if (!controller.signal.aborted) await sendInTurn(response);
  }

  /** Sends a response. A server that sends more requests than can be refused receives no response to some of them. */
  async function sendInTurn(response: JsonRpcResponse): Promise<void> {
    if (sending >= maxSending) {
      const isFull = queue.length >= maxIncoming && isFailure(response);
      if (!isFull) queue.push(response);
      return;
    }
    sending++;
    for (let next: JsonRpcResponse | undefined = response; next; next = queue.shift())
      await connection.sendResponse(next);
    sending--;
  }

  connection.accept({
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
  });
}
