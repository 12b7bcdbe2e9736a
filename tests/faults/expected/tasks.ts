import { type Rule, isModern, isOn, lasting, reconnect, refusals, resets, statuses } from "./outcome.ts";

/** A poll of a task is safe to repeat, so the client repeats it. It stops after some failures in a row. */
export const taskRules: readonly Rule[] = [
  {
    operation: ["task"],
    fault: [...refusals, ...resets, "graceful-end", "hang", ...statuses, "500-rpc"],
    must: { sent: { "tasks/get": 3 } },
  },
  // The lost answer was the first one, and the task is over at the second.
  {
    operation: ["task"],
    fault: ["reset-after", "reset-in-answer", "graceful-end"],
    must: { sent: { "tasks/get": [2, 3] } },
  },
  // The task still runs, so the call must not be repeated.
  {
    operation: ["task"],
    fault: lasting,
    must: { safeToRepeat: false, sent: { "tasks/get": [2, 10], "tasks/result": 0 } },
  },
  { operation: ["task"], fault: ["refused-for-long"], must: { settles: "unreachable" } },
  { operation: ["task"], fault: ["503-for-long"], must: { settles: "http 503" } },
  {
    operation: ["task"],
    fault: ["session-404"],
    must: (cell) => ({ sent: { ...reconnect(cell), "tasks/get": 3 } }),
  },
  {
    operation: ["task"],
    fault: [...resets, "graceful-end"],
    when: (cell) => isOn(cell, "stdio"),
    must: (cell) => ({ sent: { ...reconnect(cell), "tasks/get": [2, 3] } }),
  },
  {
    operation: ["task"],
    fault: refusals,
    when: (cell) => isOn(cell, "stdio"),
    must: (cell) => ({
      sent: { ...reconnect(cell), "server/discover": [isModern(cell) ? 1 : 0, 1], start: 2, "tasks/get": 2 },
    }),
  },
  {
    operation: ["task"],
    fault: ["refused-for-long"],
    when: (cell) => isOn(cell, "stdio"),
    must: { state: "reconnecting", sent: { initialize: 0, "server/discover": 0, start: [2, 10], "tasks/get": 0 } },
  },
];
