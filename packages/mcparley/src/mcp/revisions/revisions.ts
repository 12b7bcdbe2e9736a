import { revision as prerelease } from "./2024-10-07/revision.ts";
import { revision as first } from "./2024-11-05/revision.ts";
import { revision as march2025 } from "./2025-03-26/revision.ts";
import { revision as june2025 } from "./2025-06-18/revision.ts";
import { revision as november2025 } from "./2025-11-25/revision.ts";
import { revision as july2026 } from "./2026-07-28/revision.ts";
import type { Revision } from "./revision.ts";

/** Every revision that is understood, the newest first. */
export const revisions: readonly Revision[] = [july2026, november2025, june2025, march2025, first, prerelease];

const byVersion: ReadonlyMap<string, Revision> = new Map(revisions.map((revision) => [revision.version, revision]));

export const latestModern: Revision = july2026;
export const latestLegacy: Revision = november2025;

/** What an HTTP request is taken to speak that names no revision and has no session (2025-06-18, transports). */
export const unnamedOverHttp: Revision = march2025;

/** The versions to advertise, the newest first; the pre-release is only answered to those who ask for it. */
export const supportedVersions: readonly string[] = revisions
  .filter((revision) => revision !== prerelease)
  .map((revision) => revision.version);

export function findRevision(version: unknown): Revision | undefined {
  return typeof version === "string" ? byVersion.get(version) : undefined;
}

const legacy = revisions.filter(({ era }) => era === "legacy");

/** The revisions whose way over HTTP is HTTP+SSE, the newest first. */
export const overHttpSse: readonly Revision[] = [first, prerelease];

/** The revision for a session: what the client asked for, or else the newest of those that can be agreed on. */
export function negotiateLegacy(requested: string, among: readonly Revision[] = legacy): Revision {
  return among.find(({ version }) => version === requested) ?? among[0] ?? latestLegacy;
}
