import { type Cell } from "./dimensions.ts";

/** Cells in which the client does not do what it must. The test fails if one of them does. */
interface Pending {
  /** The names of cells. Each part of a name can list several values, separated by commas. */
  cells: readonly string[];
  observed: string;
  cause: string;
}

export const pending: readonly Pending[] = [
  {
    observed: "A reset connection is reported as `unreachable`.",
    cause: "http/client/send.ts: `unreachable` is thrown for every error of `fetch`.",
    cells: [
      "connect,list,call,read-only-call,call-with-progress/reset-after,reset-before/http/2026-07-28,2025-11-25,2025-06-18,2025-03-26",
      "list,call,read-only-call,call-with-progress/reset-after,reset-before/http-sse/2025-11-25,2025-06-18,2025-03-26,2024-11-05",
      "call-with-input/reset-after,reset-before/http/2026-07-28",
      "subscription/reset-after,reset-before/http/2025-11-25,2025-06-18,2025-03-26",
    ],
  },
  {
    observed: "A transient status or a broken answer selects another revision, or ends the connection attempt.",
    cause:
      "client/connect/find-revision.ts: `mayBeAnotherEra` includes `http` and `closed`, and nothing is sent again.",
    cells: [
      "connect/408,429,500,500-rpc,502,502-rpc,503,503-for-long,503-rpc,graceful-end,reset-in-answer/http/2026-07-28,2025-11-25,2025-06-18,2025-03-26",
    ],
  },
  {
    observed: "A failure of the GET is taken for the absence of HTTP+SSE.",
    cause: "http/client/http-sse.ts: `getEvents` returns undefined for every failure.",
    cells: [
      "connect/408,429,500,500-rpc,502,502-rpc,503,503-for-long,503-rpc,refused,refused-for-long,reset-after,reset-before,reset-in-answer/http-sse/2025-11-25,2025-06-18,2025-03-26,2024-11-05",
    ],
  },
  {
    observed: "The legacy revision of a process that ended during discovery is remembered.",
    cause: "client/connect/find-revision.ts: `detect` remembers it.",
    cells: ["connect/graceful-end,reset-after,reset-before,reset-in-answer/stdio/2026-07-28"],
  },
  {
    observed: "The error lacks `safeToRepeat`.",
    cause: "client/calls/repair.ts: `explain` adds it only to `closed` and `exited`.",
    cells: [
      "list,call,read-only-call,call-with-progress/408,429,500,502,503,503-for-long,hang,refused,refused-for-long/http/2026-07-28,2025-11-25,2025-06-18,2025-03-26",
      "list,call,read-only-call,call-with-progress/408,429,500,500-rpc,502,502-rpc,503,503-for-long,503-rpc,hang,refused,refused-for-long/http-sse/2025-11-25,2025-06-18,2025-03-26,2024-11-05",
      "list,call,read-only-call,call-with-progress/hang,refused,refused-for-long/stdio/2026-07-28,2025-11-25,2025-06-18,2025-03-26,2024-11-05",
      "call-with-input/408,429,500,502,503,refused/http/2026-07-28",
      "call-with-input/503-for-long,hang,refused-for-long/http/2026-07-28,2025-11-25,2025-06-18,2025-03-26",
      "call-with-input/refused,refused-for-long/stdio/2026-07-28",
      "call-with-input/hang/stdio/2026-07-28,2025-11-25,2025-06-18,2025-03-26,2024-11-05",
    ],
  },
  {
    observed: "A transient status with a JSON-RPC error in its body is not treated as the status.",
    cause: "http/client/response.ts: `readRefusal` returns the JSON-RPC errors, whatever the status is.",
    cells: [
      "list,call,read-only-call,call-with-progress/502-rpc,503-rpc/http/2026-07-28,2025-11-25,2025-06-18,2025-03-26",
      "call-with-input/502-rpc,503-rpc/http/2026-07-28",
      "task/500-rpc,502-rpc,503-rpc/http/2026-07-28,2025-11-25",
    ],
  },
  {
    observed: "A replaced server is not detected again.",
    cause: "client/calls/repair.ts: `repairOf` negotiates again only after -32022 in a modern session.",
    cells: [
      "list,call,read-only-call,call-with-input,call-with-progress,subscription,standalone-stream/upgraded/http/2025-11-25,2025-06-18,2025-03-26",
      "list,call,read-only-call,call-with-input,call-with-progress/rolled-back/http/2026-07-28,2025-03-26",
      "subscription,standalone-stream/rolled-back/http/2025-03-26",
      "task/upgraded/http/2025-11-25",
      "task/rolled-back/http/2026-07-28",
    ],
  },
  {
    observed: "A result that does not match the earlier schema is refused; the tools are not listed again.",
    cause: "client/calls/known-tools.ts: `checkResult`.",
    cells: [
      "call,read-only-call,call-with-input,call-with-progress/redefined/http,http-sse/2025-11-25,2025-06-18",
      "call,read-only-call,call-with-input,call-with-progress/redefined/stdio/2026-07-28,2025-11-25,2025-06-18",
      "task/redefined/http/2025-11-25",
      "task/redefined/stdio/2026-07-28,2025-11-25",
    ],
  },
  {
    observed: "A call whose session ends while it runs is sent again in the new session.",
    cause:
      "http/client/stream.ts: status 404 for the rest of a stream is `session_lost`, which client/calls/repair.ts repairs by a repetition.",
    cells: ["call-with-input/session-404/http/2025-11-25,2025-06-18,2025-03-26"],
  },
  {
    observed: "The answer of the user is sent once, and the call waits until its time limit.",
    cause: "http/client/http-sse.ts: `HttpSseTransport.send` sends a response without a retry.",
    cells: [
      "call-with-input/408,429,500,500-rpc,502,502-rpc,503,503-for-long,503-rpc,hang,refused,refused-for-long,reset-before/http-sse/2025-11-25,2025-06-18,2025-03-26,2024-11-05",
    ],
  },
  {
    observed:
      "Status 404 for the answer of the user does not end the session, and the call waits until its time limit.",
    cause: "http/client/http-sse.ts: the failure of a message without a reply is only reported.",
    cells: ["call-with-input/session-404/http-sse/2025-11-25,2025-06-18,2025-03-26,2024-11-05"],
  },
  {
    observed: "A transient status with a JSON-RPC error ends the subscription.",
    cause: "client/subscriptions/subscriptions.ts: `isFinal`.",
    cells: [
      "subscription/502-rpc,503-rpc/http/2026-07-28,2025-11-25,2025-06-18,2025-03-26",
      "subscription/500-rpc/http/2026-07-28",
    ],
  },
  {
    observed: "The client opens one session after another without a pause.",
    cause: "client/subscriptions/subscriptions.ts: `#begin` calls itself after each lost session.",
    cells: ["subscription/session-404-for-long/http/2025-11-25,2025-06-18,2025-03-26"],
  },
  {
    observed: "`close` rejects the operation with `aborted` instead of `closed`.",
    cause: "rpc/pending-requests.ts: `aborted` does not pass on the `LocalError` that is the reason of the signal.",
    cells: [
      "subscription/closed/http/2025-11-25,2025-06-18,2025-03-26",
      "task/closed/http,stdio/2026-07-28,2025-11-25",
    ],
  },
  {
    observed: "The subscription ends when its server is replaced.",
    cause: "client/subscriptions/subscriptions.ts: `isFinal`.",
    cells: ["subscription/rolled-back/http/2026-07-28"],
  },
  {
    observed: "The gap is not reported after the stream was opened again, or the stream is not opened again.",
    cause: "http/client/stream.ts: `keepStandalone` reports nothing to the subscriptions.",
    cells: [
      "standalone-stream/408,429,500,500-rpc,502,502-rpc,503,503-for-long,503-rpc,graceful-end,refused,refused-for-long,reset-after,reset-before,reset-in-answer,session-404,slow-body/http/2025-11-25,2025-06-18,2025-03-26",
      "standalone-stream/rolled-back/http/2025-11-25,2025-06-18",
    ],
  },
  {
    observed: "The error of a task that is given up has neither `status` nor `safeToRepeat`.",
    cause: "extensions/tasks/client/task-follower.ts: `Patience.keep` replaces `data`.",
    cells: [
      "task/503-for-long,refused-for-long/http/2026-07-28,2025-11-25",
      "task/refused-for-long/stdio/2026-07-28,2025-11-25",
    ],
  },
];

/** Returns a function that tests whether an entry of `cells` names a cell. */
export function pendingFor(entry: string): (cell: Cell) => boolean {
  const [operation, fault, transport, revision] = entry.split("/").map((values) => values.split(","));
  return (cell) =>
    operation?.includes(cell.operation) === true &&
    fault?.includes(cell.fault) === true &&
    transport?.includes(cell.transport) === true &&
    revision?.includes(cell.revision) === true;
}

/** Conversations in which the client sends other requests than it must. */
export const pendingConversations: readonly { name: string; peers: readonly string[]; cause: string }[] = [
  {
    name: "20 first calls at the same time",
    peers: ["http/2026-07-28"],
    cause: "client/calls/known-tools.ts: each call of `findTool` lists the tools.",
  },
  {
    name: "calls of 50 tools of a list with pages of ten, without a cache",
    peers: ["http/2026-07-28"],
    cause: "client/calls/known-tools.ts: `findTool` stops at the tool and forgets the rest of the page.",
  },
];
