import { type Cell, modern, revisionBefore } from "../dimensions.ts";

interface Exclusion {
  when: (cell: Cell) => boolean;
  /** Why the cell cannot occur, or has no meaning. */
  because: string;
}

const isStatus = ({ fault }: Cell): boolean => /^[45]\d\d/.test(fault);
const isOpenStream = ({ operation }: Cell): boolean => /subscription|stream/.test(operation);

/** Whether the operation is a request for which the user waits, and no open stream. */
const waits = (cell: Cell): boolean => !isOpenStream(cell) || isSubscribeRequest(cell);

/** `resources/subscribe` in a session over HTTP. Elsewhere an open subscription breaks. */
export function isSubscribeRequest({ operation, transport, revision }: Cell): boolean {
  return operation === "subscription" && transport === "http" && revision !== modern;
}

/** The answer of the user is a message without a reply. */
export function isOneWay({ operation, revision }: Cell): boolean {
  return operation === "call-with-input" && revision !== modern;
}

/** The cells that cannot occur. The first reason that applies is shown. */
export const exclusions: readonly Exclusion[] = [
  {
    when: ({ transport, revision }) => transport === "http" && revision === "2024-11-05",
    because: "2024-11-05 has HTTP+SSE instead.",
  },
  {
    when: ({ transport, revision }) => transport === "http-sse" && revision === modern,
    because: "2026-07-28 has no sessions, and so no HTTP+SSE.",
  },
  {
    when: ({ operation, transport, revision }) =>
      operation === "standalone-stream" && (transport !== "http" || revision === modern),
    because: "Only a session over Streamable HTTP has this stream. See the subscription.",
  },
  {
    when: ({ operation, revision }) => operation === "task" && revision !== modern && revision !== "2025-11-25",
    because: "The revision has no tasks.",
  },
  {
    when: ({ operation, transport }) => operation === "task" && transport === "http-sse",
    because: "Servers of HTTP+SSE are older than tasks.",
  },
  { when: (cell) => isStatus(cell) && cell.transport === "stdio", because: "Stdio has no statuses." },
  {
    when: ({ fault, transport }) => fault.startsWith("session-404") && transport === "stdio",
    because: "A session on stdio ends with the process.",
  },
  {
    when: ({ fault, revision }) => fault.startsWith("session-404") && revision === modern,
    because: "2026-07-28 has no sessions.",
  },
  {
    when: ({ fault, operation }) => fault.startsWith("session-404") && operation === "connect",
    because: "There is no session yet.",
  },
  {
    when: (cell) =>
      cell.fault === "session-404-for-long" && (!waits(cell) || isOneWay(cell) || cell.operation === "task"),
    because: "Only a request can be repeated in the new session. See session-404.",
  },
  {
    when: ({ fault, transport }) => fault === "process-exit" && transport !== "stdio",
    because: "A client does not see the process of an HTTP server. See the refusals and resets.",
  },
  {
    when: ({ fault, operation }) => fault === "process-exit" && operation === "connect",
    because: "There is no process yet. See the resets.",
  },
  { when: ({ fault, revision }) => fault === "upgraded" && revision === modern, because: "No revision is newer." },
  {
    when: ({ fault, revision }) => fault === "rolled-back" && revisionBefore(revision) === undefined,
    because: "No revision is older.",
  },
  {
    when: ({ fault, operation }) => fault === "redefined" && operation === "connect",
    because: "No tools are known yet.",
  },
  {
    when: (cell) => cell.fault === "redefined" && isSubscribeRequest(cell),
    because: "The request does not depend on the tools.",
  },
  {
    when: (cell) => isOneWay(cell) && ["reset-in-answer", "slow-body", "graceful-end"].includes(cell.fault),
    because: "The message with the user's answer has no reply.",
  },
  {
    when: ({ fault, operation }) => fault === "closed" && operation === "connect",
    because: "There is no client to close before `connect` resolves.",
  },
  {
    when: ({ fault, operation }) => fault === "hang" && operation === "standalone-stream",
    because: "A server may answer the GET together with its first message, so the client waits.",
  },
  {
    when: (cell) => cell.fault === "aborted" && !waits(cell),
    because: "An open subscription is ended with `close()`.",
  },
];

/** The reason why a cell cannot occur. Undefined if it can. */
export function exclusionOf(cell: Cell): string | undefined {
  return exclusions.find(({ when }) => when(cell))?.because;
}
