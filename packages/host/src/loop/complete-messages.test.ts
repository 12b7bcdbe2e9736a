import { expect, test } from "vitest";
import { completeMessages } from "./complete-messages.ts";
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

test("does not change a complete conversation", () => {
  const messages = [user, calls("a", "b"), results("a", "b"), calls("c"), results("c")];
  expect(completeMessages(messages)).toEqual(messages);
});
