import type { Requirement } from "../requirement.ts";

export const ping: readonly Requirement[] = [
  {
    id: "ping.answer.empty",
    level: "MUST",
    revisions: { until: "2025-11-25" },
    side: "both",
    section: "2025-11-25/basic/utilities/ping#behavior-requirements",
    says: "A ping is answered promptly, with an empty result.",
  },
];
