import type { Operation } from "../dimensions.ts";
import { isOneWay } from "./exclusions.ts";
import {
  type Rule,
  isModern,
  isOn,
  isRequest,
  isSafe,
  lasting,
  reconnect,
  refusals,
  resets,
  sending,
  statusOutcome,
  statuses,
  struck,
} from "./outcome.ts";

const tools: readonly Operation[] = ["call", "read-only-call", "call-with-progress", "call-with-input", "task"];

/** A request for which a caller waits. */
const requests: readonly Rule[] = [
  // The client does not repeat it. The error states whether the caller may repeat it.
  { fault: refusals, when: isRequest, must: { settles: "unreachable", safeToRepeat: true } },
  {
    fault: [...resets, "graceful-end"],
    when: isRequest,
    must: (cell) => ({ settles: "closed", safeToRepeat: isSafe(cell) }),
  },
  { fault: [...statuses, "503-for-long"], when: isRequest, must: statusOutcome },
  { fault: ["429"], when: isRequest, must: { retryAfterMs: 2_000 } },
  { fault: ["hang"], when: isRequest, must: (cell) => ({ settles: "timeout", safeToRepeat: isSafe(cell) }) },
  // With status 500 a JSON-RPC error is the answer of the server.
  { fault: ["500-rpc"], when: isRequest, must: { settles: "error -32603" } },
  // HTTP+SSE only acknowledges a POST: the body of the response is not an answer.
  { fault: ["500-rpc"], when: (cell) => isRequest(cell) && isOn(cell, "http-sse"), must: statusOutcome },
  // The rest of a stream in a session can be requested, so the answer is not lost.
  {
    operation: ["call-with-progress"],
    fault: ["reset-in-answer", "graceful-end"],
    when: (cell) => isOn(cell, "http") && !isModern(cell),
    must: { settles: "result", sent: { "GET (resume)": 1 } },
  },
  // The session of HTTP+SSE ends with its stream.
  {
    fault: ["reset-in-answer", "graceful-end"],
    when: (cell) => isRequest(cell) && isOn(cell, "http-sse"),
    must: { state: "reconnecting" },
  },
  {
    fault: [...resets, "graceful-end"],
    when: (cell) => isRequest(cell) && isOn(cell, "stdio"),
    must: { settles: "exited", state: "reconnecting" },
  },
  {
    fault: refusals,
    when: (cell) => isRequest(cell) && isOn(cell, "stdio"),
    must: (cell) => ({ sent: { [struck(cell)]: 0, start: 1 }, state: "reconnecting" }),
  },
  // The server did not run the request, so the client repeats it once.
  {
    fault: ["session-404"],
    when: isRequest,
    must: (cell) => ({ sent: { ...reconnect(cell), [struck(cell)]: 2 } }),
  },
  {
    fault: ["session-404-for-long"],
    when: isRequest,
    must: (cell) => ({
      settles: "session_lost",
      state: "reconnecting",
      sent: { ...reconnect(cell), [struck(cell)]: 2 },
    }),
  },
  { fault: ["process-exit"], must: (cell) => ({ sent: reconnect(cell) }) },
  // A new process may have other tools. An extension may need to know the tool.
  { operation: tools, fault: ["process-exit"], must: { sent: { "tools/list": [0, 1] } } },
];

/** Changed schemas. */
const redefined: readonly Rule[] = [
  // The tools are listed again once. The server is not called again to check its result.
  {
    operation: tools,
    fault: ["redefined"],
    when: ({ revision }) => revision >= "2025-06-18",
    must: { sent: { "tools/list": 1 } },
  },
  // Since 2026-07-28 the server refuses the headers of the first call, which it did not run.
  {
    operation: tools,
    fault: ["redefined"],
    when: (cell) => isOn(cell, "http") && isModern(cell),
    must: ({ operation }) => ({ sent: { "tools/call": operation === "call-with-input" ? 3 : 2 } }),
  },
];

/** The answer of the user, as a message without a reply. */
const answers: readonly Rule[] = [
  // It is sent again: to receive it twice does no harm.
  {
    fault: ["refused", "reset-before", ...statuses, "500-rpc"],
    when: isOneWay,
    must: sending(2),
  },
  // The server may have answered the call before the client repeats the answer of the user.
  { fault: ["reset-after"], when: isOneWay, must: sending([1, 2]) },
  // Without it the call ends: with the reason if the server does not receive it for 30 s, or at its time limit.
  { fault: ["hang"], when: isOneWay, must: { settles: "timeout", safeToRepeat: false } },
  { fault: lasting, when: isOneWay, must: { settles: "closed", safeToRepeat: false } },
  { fault: lasting, when: isOneWay, must: sending([10, 20]) },
  { fault: lasting, when: (cell) => isOneWay(cell) && isOn(cell, "http-sse"), must: { state: "reconnecting" } },
  // The session ends while the server runs the call. The call is not repeated.
  {
    fault: ["session-404"],
    when: isOneWay,
    must: { settles: "closed", safeToRepeat: false, state: "reconnecting", sent: { response: 1 } },
  },
  {
    fault: ["session-404"],
    when: (cell) => isOneWay(cell) && isOn(cell, "http"),
    must: { sent: { "GET (resume)": [0, 1] } },
  },
  {
    fault: [...refusals, "reset-before"],
    when: (cell) => isOneWay(cell) && isOn(cell, "stdio"),
    must: { settles: "exited", safeToRepeat: false, state: "reconnecting", sent: { response: 1 } },
  },
  // The process ends while the user is asked.
  { fault: refusals, when: (cell) => isOneWay(cell) && isOn(cell, "stdio"), must: { sent: { response: 0 } } },
  // The process has answered before it ends.
  {
    fault: ["reset-after"],
    when: (cell) => isOneWay(cell) && isOn(cell, "stdio"),
    must: { state: "reconnecting", sent: { response: 1 } },
  },
];

export const callRules: readonly Rule[] = [...requests, ...redefined, ...answers];
