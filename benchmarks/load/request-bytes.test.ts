import { expect, test } from "vitest";
import type { LoadJob } from "../types.ts";
import { echo } from "../workloads/operations.mjs";
import { checkAnswer } from "./check-answer.mjs";
import { payloadOf } from "./payload.mjs";
import { Numbered, messageOf, modernHeaders, post } from "./request-bytes.mjs";

const job = { port: 3000, accept: "application/json", revision: "2026-07-28" } as LoadJob;

test("a request is sent again with the next id, and is whole each time", () => {
  const request = new Numbered(post(job, messageOf(echo, job.revision), modernHeaders(echo)));
  for (const id of [1_000_000, 1_000_001, 1_999_999, 2_000_000, 9_999_999]) {
    request.become(id);
    const [head = "", body = ""] = request.bytes.toString().split("\r\n\r\n");
    expect(JSON.parse(body)).toMatchObject({ id, method: "tools/call", params: echo.params });
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
    expect(head).toContain("mcp-method: tools/call\r\nmcp-name: echo");
    expect(request.id).toBe(id);
  }
});

test("a request of an older revision carries nothing of the newest", () => {
  expect(JSON.parse(messageOf(echo, "2025-06-18")).params).toEqual(echo.params);
  expect(JSON.parse(messageOf(echo, "2026-07-28")).params._meta).toBeDefined();
});

test("bytes without an id cannot be numbered", () => {
  expect(() => new Numbered(Buffer.from("{}"))).toThrow("no id");
});

test.each([
  ["JSON", '{"id":1}'],
  ["one event", 'event: message\ndata: {"id":1}\n\n'],
  ["an event with an id and no space", 'id: 4\r\ndata:{"id":1}\r\n\r\n'],
  ["the last of many", ': hello\n\ndata: {"method":"data: x"}\n\ndata: {"id":1}\n\nid: 7\ndata:\n\n'],
])("the message is found in %s", (_, body) => {
  expect(payloadOf(Buffer.from(body)).toString()).toBe('{"id":1}');
});

test("a stream without a message has none", () => {
  expect(() => payloadOf(Buffer.from(": nothing\n\n"))).toThrow("no message");
});

test("an answer is taken for what it says, and not for how it is written", () => {
  const said = (result: object, id: unknown = 1): string => JSON.stringify({ result, id, jsonrpc: "2.0" });
  const content = [{ type: "text", text: "x" }];
  const expected = { kind: "text" as const, text: "x" };
  expect(() => checkAnswer(said({ content, resultType: "complete", _meta: {} }), 1, expected)).not.toThrow();
  expect(() => checkAnswer(said({ content }, "1"), 1, expected)).toThrow("no result of request 1");
  expect(() => checkAnswer(said({ content, isError: true }), 1, expected)).toThrow("no result");
  expect(() => checkAnswer(said({ content: [...content, ...content] }), 1, expected)).toThrow('Expected {"text":"x"}');
  expect(() =>
    checkAnswer(said({ contents: [{ uri: "a", text: "y" }] }), 1, { kind: "resource", uri: "a", digest: "z" }),
  ).toThrow('"digest":"z"');
});
