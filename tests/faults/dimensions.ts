/** The operations of a client, with the point at which the fault affects. */
export const operations = {
  connect:
    "`connect`. The fault affects the first request of the handshake: `server/discover`, `initialize`, or the GET of HTTP+SSE.",
  list: "`listTools().all()`. The fault affects `tools/list`.",
  call: "`callTool` of a tool without annotations, which was listed before. The fault affects `tools/call`.",
  "read-only-call": "The same for a tool with `readOnlyHint`.",
  "call-with-input":
    "A call that asks the user (roots before 2025-06-18). The fault affects the message with the answer: the second `tools/call` on 2026-07-28, a response before.",
  "call-with-progress":
    "A call that reports progress and ends one second later. The fault affects `tools/call`, or its answer after the first report.",
  subscription:
    "`listen` to the list of tools and to one resource. On 2026-07-28 and on stdio the open subscription breaks, and the fault affects the request that opens it again. In a session over HTTP the fault affects `resources/subscribe`.",
  "standalone-stream":
    "The GET stream of a session with one subscriber. The open stream breaks, and the fault affects the GET that opens it again.",
  task: "A call that becomes a task. The fault affects the first `tasks/get`.",
} as const;

export type Operation = keyof typeof operations;

/** The faults. Each strikes one request, unless it lasts. The server works before and after it. */
const described = [
  ["refused", "Nothing listens: the connection is refused, or the program cannot be started."],
  ["refused-for-long", "Nothing listens until the operation has settled, or for one minute (five for a task)."],
  ["reset-before", "The connection is reset before the server receives the request."],
  ["reset-after", "The connection is reset after the server has received the request."],
  ["reset-in-answer", "The connection is reset in the middle of the answer."],
  ["408", "Status 408 without a body."],
  ["429", "Status 429 with `Retry-After: 2`."],
  ["500", "Status 500 without a body."],
  ["500-rpc", "Status 500 with a JSON-RPC error."],
  ["502", "Status 502 with an HTML body."],
  ["502-rpc", "Status 502 with a JSON-RPC error."],
  ["503", "Status 503 without a body."],
  ["503-rpc", "Status 503 with a JSON-RPC error."],
  ["503-for-long", "Status 503 until the operation has settled, or for one minute (five for a task)."],
  ["session-404", "The server has forgotten the session: status 404."],
  ["session-404-for-long", "The server forgets each session before it answers the request: status 404."],
  ["hang", "The request is never answered."],
  ["slow-body", "The answer arrives in three parts, ten seconds apart."],
  ["graceful-end", "The stream or the process ends in an orderly way, without the answer."],
  ["process-exit", "The process of the server exits with code 1 between two requests."],
  ["upgraded", "The server is replaced by one that supports only 2026-07-28."],
  ["rolled-back", "The server is replaced by one that supports only the revision before."],
  ["redefined", "The tools have other schemas than when they were listed, and no notification was sent."],
  ["aborted", "The request is never answered, and the caller aborts it."],
  ["closed", "The request is never answered, and the client is closed."],
] as const;

export type Fault = (typeof described)[number][0];

/** The descriptions of the faults, in the order of the tables. */
export const faults: ReadonlyMap<Fault, string> = new Map(described);

export const transports = ["http", "http-sse", "stdio"] as const;
export type TransportName = (typeof transports)[number];

/** The revisions that servers speak, the newest first. */
export const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export type RevisionName = (typeof revisions)[number];

export const modern: RevisionName = "2026-07-28";

/** One operation under one fault. */
export interface Cell {
  operation: Operation;
  fault: Fault;
  transport: TransportName;
  revision: RevisionName;
}

/** The name of a cell, as `npm run check -- faults --cell` takes it. */
export function nameOf({ operation, fault, transport, revision }: Cell): string {
  return `${operation}/${fault}/${transport}/${revision}`;
}

/** All cells of the product, with those that cannot occur. */
export function allCells(): Cell[] {
  return keysOf(operations).flatMap((operation) =>
    transports.flatMap((transport) =>
      [...faults.keys()].flatMap((fault) => revisions.map((revision) => ({ operation, fault, transport, revision }))),
    ),
  );
}

/** The revision before, which a server that is rolled back speaks. */
export function revisionBefore(revision: RevisionName): RevisionName | undefined {
  return revisions[revisions.indexOf(revision) + 1];
}

export function keysOf<T extends object>(record: T): (keyof T & string)[] {
  return Object.keys(record) as (keyof T & string)[];
}
