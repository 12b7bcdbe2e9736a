import { isSubscribeRequest } from "./exclusions.ts";
import {
  type Rule,
  isOn,
  isReopening,
  lasting,
  opening,
  reconnect,
  refusals,
  resets,
  sending,
  statuses,
  struck,
} from "./outcome.ts";

/** A broken stream is opened again, with pauses, until it is open. The gap is reported as a change of everything. */
export const streamRules: readonly Rule[] = [
  {
    fault: [...refusals, ...resets, ...statuses, "500-rpc", "graceful-end"],
    when: isReopening,
    must: sending(2),
  },
  { fault: ["hang"], when: isReopening, must: sending([2, 3]) },
  { fault: lasting, when: isReopening, must: sending([3, 60]) },
  {
    fault: [...resets, "graceful-end"],
    when: (cell) => isReopening(cell) && isOn(cell, "stdio"),
    must: (cell) => ({ sent: reconnect(cell, 2) }),
  },
  {
    fault: refusals,
    when: (cell) => isReopening(cell) && isOn(cell, "stdio"),
    // The remembered revision is not used again after a failure.
    must: (cell) => ({ sent: { start: 2, "server/discover": [0, 1], [opening(cell)]: 1, [struck(cell)]: 1 } }),
  },
  {
    fault: ["refused-for-long"],
    when: (cell) => isReopening(cell) && isOn(cell, "stdio"),
    must: { sent: { start: [3, 60] } },
  },
  {
    fault: ["reset-in-answer", "graceful-end"],
    when: (cell) => isReopening(cell) && isOn(cell, "http-sse"),
    must: (cell) => ({ sent: reconnect(cell, 2) }),
  },
  // The session is opened again as well.
  {
    operation: ["standalone-stream"],
    fault: ["session-404"],
    must: { sent: { initialize: 1, "resources/subscribe": 1, GET: [1, 2] } },
  },
  {
    fault: ["session-404"],
    when: (cell) => isReopening(cell) && isOn(cell, "http-sse"),
    must: (cell) => ({ sent: { ...reconnect(cell, 2), [struck(cell)]: 2 } }),
  },
  // A notification reports the change. Nothing is opened again.
  {
    fault: ["redefined"],
    when: isReopening,
    must: (cell) => ({ sent: { start: 0, "GET (open)": 0, [opening(cell)]: 0, [struck(cell)]: 0 } }),
  },
  // It is always safe to open a subscription again, so its errors need no `safeToRepeat`.
  { when: isSubscribeRequest, must: { safeToRepeat: undefined } },
];
