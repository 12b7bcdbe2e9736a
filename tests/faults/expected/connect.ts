import type { Cell } from "../dimensions.ts";
import { changesServer } from "../operations.ts";
import {
  type Count,
  type Rule,
  isModern,
  isOn,
  refusals,
  replacements,
  resets,
  sending,
  statuses,
  struck,
} from "./outcome.ts";
import { detection } from "./replacements.ts";

/**
 * Discovery and initialization are repeated after transient statuses and lost answers. An address at which nothing listens is
 * an error at once. No failure selects another revision.
 */
const overHttp: readonly Rule[] = [
  { operation: ["connect"], when: (cell) => !changesServer(cell), must: (cell) => ({ sent: firstConnect(cell) }) },
  { operation: ["connect"], fault: [...statuses, ...resets, "500-rpc", "graceful-end"], must: sending(2) },
  {
    operation: ["connect"],
    fault: ["503-for-long"],
    must: (cell) => ({ settles: "http 503", state: "none", sent: { [struck(cell)]: [2, 10] } }),
  },
  { operation: ["connect"], fault: refusals, must: { settles: "unreachable", state: "none" } },
  { operation: ["connect"], fault: ["hang"], must: { settles: "timeout", state: "none" } },
  {
    operation: ["connect"],
    fault: replacements,
    must: (cell) => ({ sent: { "GET (open)": 0, ...detection(cell), initialize: [1, 3] } }),
  },
];

const overHttpSse: readonly Rule[] = [
  // There is no stream for a second `initialize`.
  {
    operation: ["connect"],
    fault: ["503-for-long", ...refusals, "graceful-end", "hang", "slow-body", "aborted"],
    when: (cell) => isOn(cell, "http-sse"),
    must: { sent: { initialize: 1 } },
  },
  // A server that has HTTP+SSE names its endpoint within ten seconds. Otherwise the refusal of the POST is the error.
  {
    operation: ["connect"],
    fault: ["hang", "slow-body", "graceful-end"],
    when: (cell) => isOn(cell, "http-sse"),
    must: { settles: "http 405", state: "none", sent: { "GET (open)": 1 } },
  },
];

const overStdio: readonly Rule[] = [
  {
    operation: ["connect"],
    fault: refusals,
    when: (cell) => isOn(cell, "stdio"),
    must: { sent: { "server/discover": 0, initialize: 0 } },
  },
  // A program that ends because of the first request is started again once, without a modern request.
  {
    operation: ["connect"],
    fault: [...resets, "graceful-end"],
    when: (cell) => isOn(cell, "stdio"),
    must: (cell) => ({
      sent: { start: 2, "server/discover": 1, initialize: isModern(cell) ? 1 : 2 },
      revision: isModern(cell) ? "2025-11-25" : cell.revision,
    }),
  },
  // A program that is silent for five seconds gets `initialize` as well, and its first answer counts.
  {
    operation: ["connect"],
    fault: ["hang"],
    when: (cell) => isOn(cell, "stdio") && isModern(cell),
    must: { settles: "result", state: "open", sent: { initialize: 1 }, revision: "2025-11-25" },
  },
  {
    operation: ["connect"],
    fault: ["slow-body"],
    when: (cell) => isOn(cell, "stdio") && isModern(cell),
    must: { sent: { initialize: 1 } },
  },
];

export const connectRules: readonly Rule[] = [...overHttp, ...overHttpSse, ...overStdio];

/** The requests of the first handshake with a server. */
function firstConnect(cell: Cell): Record<string, Count> {
  const start: Record<string, Count> = isOn(cell, "stdio") ? { start: 1 } : {};
  if (isModern(cell)) return { ...start, "server/discover": 1 };
  if (isOn(cell, "http-sse")) return { "server/discover": 1, initialize: 2, "GET (open)": 1 };
  return { ...start, "server/discover": 1, initialize: 1 };
}
