import { expect, test } from "vitest";
import { encode } from "../../rpc/messages.ts";
import { EventStream } from "./event-stream.ts";
import type { HttpExchange, ResponseStream } from "../exchange.ts";

/** Returns a response that records the calls of its methods. */
function recorded(): { written: string[]; events: EventStream } {
  const written: string[] = [];
  const stream: ResponseStream = {
    write: (chunk: string) => void written.push(chunk),
    end: () => void written.push("end"),
    destroy: () => void written.push("destroy"),
  };
  const exchange = { stream: () => stream } as unknown as HttpExchange;
  return { written, events: new EventStream(exchange) };
}

test("sends a message as one event with one data line, also if it contains line breaks", () => {
  const { written, events } = recorded();
  events.send(encode({ jsonrpc: "2.0", method: "x", params: { text: "a\nb\r\nc\u2028" } }));
  events.end();
  expect(written).toEqual([
    'event: message\ndata: {"jsonrpc":"2.0","method":"x","params":{"text":"a\\nb\\r\\nc\u2028"}}\n\n',
    "end",
  ]);
});
