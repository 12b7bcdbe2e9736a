import type { Requirement } from "../requirement.ts";

const legacy = { until: "2025-11-25" } as const;

export const ping: readonly Requirement[] = [
  {
    id: "ping.answer.empty",
    level: "MUST",
    revisions: legacy,
    side: "both",
    section: "2025-11-25/basic/utilities/ping#behavior-requirements",
    says: "A ping is answered promptly, with an empty result.",
  },
  {
    id: "ping.answer.while-busy",
    level: "MUST",
    revisions: legacy,
    side: "server",
    section: "2025-11-25/basic/utilities/ping#behavior-requirements",
    says: "A ping is answered while other requests are in progress.",
  },
  {
    id: "ping.sent",
    level: "MAY",
    revisions: legacy,
    side: "client",
    section: "2025-11-25/basic/utilities/ping#overview",
    says: "A client may ping its server with a request without params.",
  },
  {
    id: "ping.sent-by-server",
    level: "MAY",
    revisions: legacy,
    side: "server",
    section: "2025-11-25/basic/utilities/ping#overview",
    says: "A server may ping its client.",
  },
  {
    id: "ping.timeout",
    level: "SHOULD",
    revisions: legacy,
    side: "client",
    section: "2025-11-25/basic/utilities/ping#error-handling",
    says: "A ping without a response in time fails. The timeout is configurable.",
  },
  {
    id: "ping.failure.reported",
    level: "SHOULD",
    revisions: legacy,
    side: "client",
    section: "2025-11-25/basic/utilities/ping#error-handling",
    says: "A failed ping can be logged.",
  },
  {
    id: "ping.failure.reset",
    level: "MAY",
    revisions: legacy,
    side: "client",
    section: "2025-11-25/basic/utilities/ping#error-handling",
    says: "Several failed pings may cause a client to reconnect.",
  },
  {
    id: "ping.not-excessive",
    level: "SHOULD",
    revisions: legacy,
    side: "both",
    section: "2025-11-25/basic/utilities/ping#implementation-considerations",
    says: "Pings are not sent more often than necessary.",
  },
  {
    id: "ping.periodic",
    level: "SHOULD",
    revisions: legacy,
    side: "both",
    section: "2025-11-25/basic/utilities/ping#implementation-considerations",
    says: "Pings are sent at the configured interval.",
  },
];
