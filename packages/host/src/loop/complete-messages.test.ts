import { expect, test } from "vitest";
import { completeMessages } from "./request-messages.ts";
import type { Message } from "../conversation/messages.ts";

const calls = (...ids: string[]): Message => ({
  role: "assistant",
  content: ids.map((callId) => ({ type: "tool-call", callId, name: "read", arguments: {} })),
});
const results = (...ids: string[]): Message => ({
  role: "tool",
  content: ids.map((callId) => ({ type: "tool-result", callId, name: "read", content: [], isError: false })),
});
const user: Message = { role: "user", content: "Hello" };

/** Returns the roles, and the ids of calls and results. */
function shape(messages: readonly Message[]): unknown[] {
  return messages.map(({ role, content }) => {
    const ids = typeof content === "string" ? [] : content.flatMap((part) => ("callId" in part ? [part.callId] : []));
    return [role, ...ids];
  });
}

test.each([
  ["at the end", [user, calls("a")], [["user"], ["assistant", "a"], ["tool", "a"]]],
  ["before another message", [calls("a"), user], [["assistant", "a"], ["tool", "a"], ["user"]]],
  [
    "beside other results",
    [calls("a", "b"), results("b"), user],
    [["assistant", "a", "b"], ["tool", "b", "a"], ["user"]],
  ],
])("adds missing results %s", (_name, messages, expected) => {
  const complete = completeMessages(messages);
  expect(shape(complete)).toEqual(expected);
  expect(completeMessages(complete)).toEqual(complete);
});

test("calls of two answers with the same id have their own results", () => {
  const result = (text: string): Message => {
    const content = [{ type: "text" as const, text }];
    return { role: "tool", content: [{ type: "tool-result", callId: "a", name: "read", content, isError: false }] };
  };
  const messages = [calls("a"), result("first"), calls("a"), result("second")];
  expect(completeMessages(messages)).toEqual(messages);
});

test("collects the results of several messages, and adds none twice", () => {
  const complete = completeMessages([calls("a", "b"), results("b"), results("a"), user]);
  expect(shape(complete)).toEqual([["assistant", "a", "b"], ["tool", "b", "a"], ["user"]]);
});

test("removes results without a call and second results", () => {
  const complete = completeMessages([results("x"), user, calls("a"), results("a", "a", "x"), user, results("a")]);
  expect(shape(complete)).toEqual([["user"], ["assistant", "a"], ["tool", "a"], ["user"]]);
});

test("removes empty texts and empty messages, but no data of the provider", () => {
  const data = { provider: { signature: "s" } };
  const empty: Message[] = [
    { role: "system", content: "" },
    { role: "user", content: "" },
    { role: "user", content: [{ type: "text", text: "" }] },
    { role: "assistant", content: [] },
  ];
  const signed: Message = { role: "assistant", content: [{ type: "reasoning", text: "", providerData: data }] };
  const mixed: Message = {
    role: "user",
    content: [
      { type: "text", text: "" },
      { type: "text", text: "Hello" },
    ],
  };
  expect(completeMessages([...empty, signed, mixed])).toEqual([
    signed,
    { role: "user", content: [{ type: "text", text: "Hello" }] },
  ]);
});

test("does not change a complete conversation", () => {
  const messages = [user, calls("a", "b"), results("a", "b"), calls("c"), results("c")];
  expect(completeMessages(messages)).toEqual(messages);
});
