import {
  type Cell,
  type Fault,
  type Operation,
  type RevisionName,
  type TransportName,
  allCells,
  faults,
  keysOf,
  modern,
  operations,
  revisions,
  transports,
} from "./dimensions.ts";
import { describeCount } from "./expected/compare.ts";
import { type Outcome, struck } from "./expected/outcome.ts";
import { expectedOf } from "./expected/rules.ts";
import { pending } from "./pending.ts";

const transportTitles: Record<TransportName, string> = {
  http: "Streamable HTTP",
  "http-sse": "HTTP+SSE",
  stdio: "stdio",
};

const introduction = `# Client under faults

This page shows what the client does when the network, a proxy or a server fails. It is generated from the data of a test:
\`npm run check -- faults\` runs each cell of the tables below and prints them, \`npm run check -- faults --cell call/503/http/2026-07-28\` runs one.
For each cell the test checks the result or the error, the number of requests, \`client.state\`, that the next call works, and that
\`close()\` leaves no timer, listener, stream or process. [Calls and errors](../clients/calls-and-errors.md) describes the errors.

## Principles

- Every operation settles, with a result or an error. An open subscription is opened again instead.
- An abort or \`close()\` settles everything at once.
- The client repeats a request only if the server did not run it: the server answers that the session, the headers or the
  revision are wrong. Discovery, initialization, polls of tasks and answers of users are repeated after other failures as well.
- An error that leaves open whether the server ran the request has \`data.safeToRepeat\`. It is true for lists and reads, for tools
  with \`readOnlyHint\` or \`idempotentHint\`, and if the request was not sent (\`unreachable\`).
- No transient status and no network error selects another revision, and none is remembered.
- After an upgrade, a rollback or a change of the tools, the next call works. The revision is detected again once, and the tools are
  listed at most once.

## Faults

A fault affects one request, unless its description states another duration. Before and after it the server works.

| Fault | Description |
| --- | --- |
${[...faults].map(([fault, text]) => `| ${fault} | ${text} |`).join("\n")}

## How to read the tables

- A cell shows the result or the error of the operation, and whether the caller may repeat it: "safe" or "not safe".
- Then it shows the requests that are sent since the fault, and how often. If none are shown, the affected request is sent once.
- The client is then \`open\`, unless the cell names another state.
- "–" stands for a fault that cannot occur. The reasons are [at the end](#cells-that-cannot-occur).
- Requests: \`start\` starts the process, \`GET (open)\` opens the stream of HTTP+SSE, \`GET (resume)\` requests the rest of an answer,
  \`GET\` opens the standalone stream, \`response\` is the answer of the user.
- \`http\` has the status of the fault in \`data.status\`, unless the cell names another.`;

/** Returns the Markdown of the whole page. */
export function renderPage(): string {
  const sections = keysOf(operations).map(renderOperation);
  return `${[introduction, ...sections, renderReasons(), ...renderPending()].join("\n\n")}\n`;
}

function renderOperation(operation: Operation): string {
  const cells = allCells().filter((cell) => cell.operation === operation);
  const shown = transports.filter((transport) =>
    cells.some((cell) => cell.transport === transport && typeof expectedOf(cell) !== "string"),
  );
  const rows = new Map<string, Fault[]>();
  for (const fault of faults.keys()) {
    const columns = shown.map((transport) => renderCell(operation, fault, transport)).join(" | ");
    rows.set(columns, [...(rows.get(columns) ?? []), fault]);
  }
  return [
    `## ${operation}`,
    operations[operation],
    [
      `| Fault | ${shown.map((transport) => transportTitles[transport]).join(" | ")} |`,
      `| --- |${" --- |".repeat(shown.length)}`,
      ...[...rows].map(([columns, names]) => `| ${names.join(", ")} | ${columns} |`),
    ].join("\n"),
  ].join("\n\n");
}

/** The outcomes of a cell in all revisions. Those that differ are labelled. */
function renderCell(operation: Operation, fault: Fault, transport: TransportName): string {
  const cells = revisions.map((revision): Cell => ({ operation, fault, transport, revision }));
  const groups = groupBy(cells, (cell) => {
    const expected = expectedOf(cell);
    return typeof expected === "string" ? undefined : describeOutcome(cell, expected);
  });
  if (groups.size === 0) return "–";
  const all = [...groups.values()].flat();
  return [...groups]
    .map(([text, group]) => (groups.size === 1 ? text : `${labelOf(group, all)}: ${text}`))
    .join("<br>");
}

function describeOutcome(cell: Cell, { settles, safeToRepeat, retryAfterMs, sent, state }: Outcome): string {
  const parts = [describeEnd(cell, settles)];
  if (safeToRepeat !== undefined) parts.push(safeToRepeat ? "safe" : "not safe");
  if (retryAfterMs !== undefined) parts.push(`\`retryAfterMs\` ${retryAfterMs}`);
  const counts = Object.entries(sent)
    .filter(([, count]) => count !== 0)
    .toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  const isOnlyStruck = counts.length === 1 && sent[struck(cell)] === 1;
  const requests = counts.map(([name, count]) => `\`${name}\` ${describeCount(count)}`);
  const shownState = state === "open" ? [] : [state === "none" ? "no client" : state];
  return [parts.join(", "), ...(isOnlyStruck ? [] : [requests.join(", ") || "no request"]), ...shownState].join("; ");
}

/** The error with its status, if that is not the one of the fault. */
function describeEnd({ fault }: Cell, settles: string): string {
  if (settles === "result" || settles === "ended") return settles;
  const [code = "", status] = settles.split(" ");
  if (code === "error") return "the JSON-RPC error";
  return status === undefined || fault.startsWith(status) ? `\`${code}\`` : `\`${code}\` ${status}`;
}

/** The order in which requests are shown. */
const order = [
  "start",
  "server/discover",
  "GET (open)",
  "initialize",
  "tools/list",
  "tools/call",
  "response",
  "GET (resume)",
  "tasks/get",
  "tasks/result",
  "resources/subscribe",
  "subscriptions/listen",
  "GET",
];

function labelOf(group: readonly Cell[], all: readonly Cell[]): string {
  const names = group.map(({ revision }) => revision);
  const legacy = all.filter(({ revision }) => revision !== modern);
  if (names.length === legacy.length && !names.includes(modern)) {
    return all.length > legacy.length ? "before 2026-07-28" : names.join(", ");
  }
  return names.join(", ");
}

/** The reasons why cells cannot occur, with the faults, operations and transports that they are about. */
function renderReasons(): string {
  const cells = allCells();
  const reasons = groupBy(cells, (cell) => {
    const expected = expectedOf(cell);
    return typeof expected === "string" ? expected : undefined;
  });
  const lines = [...reasons].map(([reason, group]) => {
    const about = [
      some(
        group.map(({ operation }) => operation),
        keysOf(operations),
      ),
      some(
        group.map(({ fault }) => fault),
        [...faults.keys()],
      ),
      some(
        group.map(({ transport }) => transportTitles[transport]),
        Object.values(transportTitles),
      ),
    ].filter((names) => names !== "");
    return `| ${reason} | ${about.join("; ")} |`;
  });
  return ["## Cells that cannot occur", ["| Reason | Cells |", "| --- | --- |", ...lines].join("\n")].join("\n\n");
}

/** The names in a list. Empty if they are all of them. */
function some<T extends string>(names: readonly T[], all: readonly T[]): string {
  const found = [...new Set(names)];
  return found.length === all.length ? "" : found.join(", ");
}

/** The cells in which the client differs from this page. */
function renderPending(): string[] {
  if (pending.length === 0) return [];
  const lines = pending.map(({ observed, cells }) => {
    const named = cells.map((name) => name.replaceAll(",", ", ").replaceAll("/", " / "));
    return `- ${observed}\n${named.map((name) => `  - ${name}`).join("\n")}`;
  });
  return ["## Known defects", "The client does not do this yet:", lines.join("\n")];
}

function groupBy(cells: readonly Cell[], keyOf: (cell: Cell) => string | undefined): Map<string, Cell[]> {
  const groups = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = keyOf(cell);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return groups;
}

/** Returns the outcomes over one transport as plain text, for a terminal. */
export function renderText(transport: TransportName): string {
  const names = keysOf(operations);
  const rows = [...faults.keys()].map((fault) => [
    fault,
    ...names.map((operation) => shortCell(revisions, { operation, fault, transport })),
  ]);
  const table = [["fault", ...names], ...rows];
  const widths = ["fault", ...names].map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const lines = table.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
  return [`${transportTitles[transport]} (+ safe to repeat, - not safe)`, "", ...lines].join("\n");
}

function shortCell(among: readonly RevisionName[], cell: Omit<Cell, "revision">): string {
  const texts = among.flatMap((revision) => {
    const expected = expectedOf({ ...cell, revision });
    if (typeof expected === "string") return [];
    const { settles, safeToRepeat } = expected;
    return safeToRepeat === undefined ? settles : `${settles}${safeToRepeat ? "+" : "-"}`;
  });
  return [...new Set(texts)].join(" | ") || "–";
}

/** Markdown without the padding of its tables, which the formatter decides. */
export function withoutPadding(markdown: string): string {
  return markdown.replaceAll(/ {2,}/g, " ").replaceAll(/-{3,}/g, "---").trim();
}
