/**
 * The revisions whose texts are proven, the oldest first.
 *
 * @public Used by `scripts/requirements.mjs`, which bundles this file.
 */
export const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;
export type Version = (typeof versions)[number];

/** Over `http-json` an answer is one document if possible; over `http-sse` it is always a stream. */
const transports = ["memory", "stdio", "http-json", "http-sse"] as const;
export type TransportName = (typeof transports)[number];

export const stream: readonly TransportName[] = ["memory", "stdio"];
export const http: readonly TransportName[] = ["http-json", "http-sse"];

/** One thing that a revision of the specification asks of an implementation. */
export interface Requirement {
  /** `area.subject.what`, in lower case, such as `base.id.never-null`. */
  id: string;
  level: "MUST" | "SHOULD" | "MAY";
  /** The first and the last revision that ask for it in this sense; all of them where neither is given. */
  revisions: { from?: Version; until?: Version };
  side: "server" | "client" | "both";
  /** The transports that it concerns; all unless given. */
  transports?: readonly TransportName[];
  /** Where a text says it, as a path of the specification's site: `2025-11-25/basic/lifecycle#initialization`. */
  section: string;
  /** One sentence, in our own words. */
  says: string;
  /** Why no test proves it. */
  excuse?: string;
}

export function versionsOf({ revisions: { from, until } }: Requirement): readonly Version[] {
  return versions.filter((version) => (!from || version >= from) && (!until || version <= until));
}

export function transportsOf({ transports: named = transports }: Requirement): readonly TransportName[] {
  return named;
}
