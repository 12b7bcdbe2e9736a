import type { Message, RunEnd } from "@mcparley/host";

/** Returns whether the model has answered, or called a tool. An answer can be empty. */
export function hasAnswer({ reason, messages }: RunEnd, before: readonly Message[]): boolean {
  const isUnfinished = reason === "error" || reason === "cancelled" || reason === "time";
  return !isUnfinished || answersIn(messages) > answersIn(before);
}

function answersIn(messages: readonly Message[]): number {
  return messages.filter(({ role }) => role !== "user").length;
}
