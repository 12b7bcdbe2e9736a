import { type Cell } from "../dimensions.ts";
import { changesServer } from "../operations.ts";
import { callRules } from "./calls.ts";
import { connectRules } from "./connect.ts";
import { exclusionOf } from "./exclusions.ts";
import { type Outcome, type Rule, isModern, isReopening, reconnect, struck } from "./outcome.ts";
import { replacementRules } from "./replacements.ts";
import { streamRules } from "./streams.ts";
import { taskRules } from "./tasks.ts";

/** Without a fault: the operation works, and sends its requests once. */
const base: readonly Rule[] = [
  { must: (cell) => ({ settles: "result", state: "open", sent: { [struck(cell)]: 1 }, revision: cell.revision }) },
  { operation: ["task"], must: { sent: { "tasks/get": 2 } } },
  { operation: ["task"], when: (cell) => !isModern(cell), must: { sent: { "tasks/result": 1 } } },
  { operation: ["task"], when: changesServer, must: { sent: { "tools/call": 1 } } },
  {
    operation: ["call-with-input"],
    when: changesServer,
    must: (cell) => ({ sent: isModern(cell) ? { "tools/call": 2 } : { "tools/call": 1, response: 1 } }),
  },
  { operation: ["subscription"], when: isReopening, must: (cell) => ({ sent: reconnect(cell) }) },
];

/** Abort and close settle everything at once. */
const interruptions: readonly Rule[] = [
  { fault: ["aborted"], must: { settles: "aborted", isAtOnce: true } },
  { fault: ["closed"], must: { settles: "closed", isAtOnce: true, state: "closed" } },
  { fault: ["closed"], when: isReopening, must: { settles: "ended" } },
  { operation: ["task"], fault: ["aborted", "closed"], must: { sent: { "tasks/get": 1, "tasks/result": 0 } } },
  { operation: ["connect"], fault: ["aborted"], must: { state: "none" } },
];

/** The rules, from the general to the special. A later rule has precedence over an earlier one. */
export const rules: readonly Rule[] = [
  ...base,
  ...callRules,
  ...replacementRules,
  ...streamRules,
  ...taskRules,
  ...connectRules,
  ...interruptions,
];

/** Whether a rule applies to a cell. */
export function applies({ operation, fault, when }: Rule, cell: Cell): boolean {
  if (operation && !operation.includes(cell.operation)) return false;
  if (fault && !fault.includes(cell.fault)) return false;
  return !when || when(cell);
}

/** The errors that leave open whether the server ran the request. */
const isOpenError = (settles = ""): boolean => /^(closed|exited|timeout|http|unreachable)/.test(settles);

/** Returns the expected outcome of a cell, or the reason why it cannot occur. */
export function expectedOf(cell: Cell): Outcome | string {
  const excluded = exclusionOf(cell);
  if (excluded !== undefined) return excluded;
  let outcome: Partial<Outcome> = {};
  for (const rule of rules) {
    if (!applies(rule, cell)) continue;
    const part = typeof rule.must === "function" ? rule.must(cell) : rule.must;
    outcome = { ...outcome, ...part, sent: { ...outcome.sent, ...part.sent } };
  }
  const { safeToRepeat: _, retryAfterMs: __, ...rest } = outcome;
  return (isOpenError(outcome.settles) && !outcome.isAtOnce ? outcome : rest) as Outcome;
}
