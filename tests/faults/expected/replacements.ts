import { type Cell, type RevisionName, modern, revisionBefore } from "../dimensions.ts";
import { type Count, type Rule, isModern, isReopening, replacements } from "./outcome.ts";

/** The server was replaced by one of another revision: the revision is detected again once, and then everything works. */
export const replacementRules: readonly Rule[] = [
  { fault: ["upgraded"], must: { revision: modern } },
  { fault: ["rolled-back"], must: ({ revision }) => ({ revision: revisionBefore(revision) as RevisionName }) },
  { fault: replacements, must: (cell) => ({ sent: detection(cell) }) },
  {
    fault: replacements,
    when: ({ operation }) => /list|call|task/.test(operation),
    must: (cell) => ({ sent: repeated(cell) }),
  },
  { operation: ["call-with-input"], fault: replacements, must: { sent: { response: [0, 1] } } },
  {
    operation: ["subscription", "standalone-stream"],
    fault: replacements,
    must: { sent: { "resources/subscribe": [0, 2], "subscriptions/listen": [0, 2] } },
  },
  { operation: ["standalone-stream"], fault: replacements, when: isReopening, must: { sent: { GET: [0, 3] } } },
];

/** The requests that find the revision. A failed handshake may come before. */
export function detection({ fault, transport, revision }: Cell): Record<string, Count> {
  const isUpgrade = fault === "upgraded";
  const endsOnHttpSse = fault === "rolled-back" && (transport === "http-sse" || revision === "2025-03-26");
  const wasModern = isModern({ revision } as Cell);
  return {
    ...(transport === "stdio" && { start: [1, 2] }),
    ...(transport !== "stdio" && { "GET (open)": endsOnHttpSse ? [1, 2] : 0 }),
    "server/discover": isUpgrade || wasModern ? [1, 2] : [0, 1],
    initialize: isUpgrade ? [0, 2] : [1, 3],
  };
}

/** The requests of an operation that the server refused first, or that another revision encodes differently. */
function repeated({ operation }: Cell): Record<string, Count> {
  const request = operation === "list" ? "tools/list" : "tools/call";
  const rounds = operation === "call-with-input" ? 2 : 1;
  const listed: Record<string, Count> = operation === "list" ? {} : { "tools/list": [0, 1] };
  const polls: Record<string, Count> = operation === "task" ? { "tasks/get": [0, 2], "tasks/result": [0, 1] } : {};
  return { ...listed, ...polls, [request]: [1, rounds + 1] };
}
