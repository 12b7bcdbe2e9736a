import type { HttpExchange } from "../../packages/mcparley/src/http/exchange.ts";
import { tooLarge } from "../../packages/mcparley/src/http/server/refusal.ts";

export type Headers_ = Readonly<Record<string, string>>;

export interface FakeRequest {
  method?: string;
  headers: Headers_;
  body?: string;
}

/** An exchange whose headers may be invalid for HTTP libraries. It checks that the request is answered once. */
export function fakeExchange({ method = "POST", headers, body = "" }: FakeRequest): {
  exchange: HttpExchange;
  /** Resolves with the head of the answer. Rejects if there is a second one. */
  outcome: Promise<{ status: number }>;
  /** The client disconnects. */
  leave(): void;
} {
  let settle!: (head: { status: number }) => void;
  let refuse!: (error: Error) => void;
  let onGone = (): void => {};
  let answers = 0;
  let isOver = false;
  const outcome = new Promise<{ status: number }>((resolve, reject) => {
    settle = resolve;
    refuse = reject;
  });
  const answer = (status: number): void => {
    if (++answers > 1) refuse(new Error(`The exchange was answered ${answers} times.`));
    settle({ status });
  };
  const exchange: HttpExchange = {
    method,
    path: "/mcp",
    query: "",
    secure: false,
    address: undefined,
    network: undefined,
    held: undefined,
    parsedBody: undefined,
    get closed() {
      return isOver;
    },
    header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
    async readText({ maxBytes }) {
      if (body.length > maxBytes) throw tooLarge(maxBytes);
      return body;
    },
    decorate: () => {},
    respond(status) {
      isOver = true;
      answer(status);
    },
    stream(status) {
      answer(status);
      const end = (): void => void (isOver = true);
      return { backlog: 0, write: () => {}, end, destroy: end };
    },
    onGone: (listener) => void (onGone = listener),
  };
  return {
    exchange,
    outcome,
    leave() {
      if (isOver) return;
      isOver = true;
      onGone();
    },
  };
}
