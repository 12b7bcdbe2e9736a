/**
 * The revisions whose requirements are proven, oldest first.
 *
 * @public Used by `run.mjs`, which bundles this file.
 */
export const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;
export type Version = (typeof versions)[number];

/** Over `http-json` a response is one document if possible. Over `http-sse` it is always a stream. */
const transports = ["memory", "stdio", "http-json", "http-sse"] as const;
export type TransportName = (typeof transports)[number];

export const stream: readonly TransportName[] = ["memory", "stdio"];
export const http: readonly TransportName[] = ["http-json", "http-sse"];

/** A requirement of the specification for implementations. */
export interface Requirement {
  /** `area.subject.what`, in lower case, such as `base.id.never-null`. */
  id: string;
  level: "MUST" | "SHOULD" | "MAY";
  /** The first and the last revision that have it in this sense. Default: all revisions. */
  revisions: { from?: Version; until?: Version };
  side: "server" | "client" | "both";
  /** The transports to which it applies. Default: all. */
  transports?: readonly TransportName[];
  /** The section of the specification, as a path of its site: `2025-11-25/basic/lifecycle#initialization`. */
  section: string;
  /** The requirement in one or two sentences, in our own words. */
  says: string;
  /** The reason why no test proves it. */
  excuse?: string;
}

export function versionsOf({ revisions: { from, until } }: Requirement): readonly Version[] {
  return versions.filter((version) => (!from || version >= from) && (!until || version <= until));
}

export function transportsOf({ transports: named = transports }: Requirement): readonly TransportName[] {
  return named;
}
