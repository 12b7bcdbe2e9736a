import * as october2024 from "./2024-10-07.ts";
import * as november2024 from "./2024-11-05.ts";
import * as march2025 from "./2025-03-26.ts";
import * as june2025 from "./2025-06-18.ts";
import * as november2025 from "./2025-11-25.ts";
import * as july2026 from "./2026-07-28.ts";
import type { Encoder } from "./encoder.ts";
import type { Revision } from "./revision.ts";

/** All revisions that the library implements, the newest first. */
export const revisions: readonly Revision[] = [
  july2026.revision,
  november2025.revision,
  june2025.revision,
  march2025.revision,
  november2024.revision,
  october2024.revision,
];

const byVersion: ReadonlyMap<string, Revision> = new Map(revisions.map((revision) => [revision.version, revision]));

/** The newest revision without sessions. */
export const latestModern: Revision = july2026.revision;
/** The newest revision with sessions. */
export const latestLegacy: Revision = november2025.revision;

/** The revision of an HTTP request that names no revision and has no session (2025-06-18, transports). */
export const unnamedOverHttp: Revision = march2025.revision;

/**
 * The revisions of MCP that servers and clients of this library support, the newest first.
 *
 * The pre-release 2024-10-07 is also supported, but it is not listed and is used only for clients that request it.
 *
 * @example
 * ```ts
 * import { supportedVersions } from "mcparley";
 *
 * console.log(supportedVersions[0]); // 2026-07-28
 * ```
 */
export const supportedVersions: readonly string[] = revisions
  .filter((revision) => revision !== october2024.revision)
  .map((revision) => revision.version);

/** Returns the revision with a version, such as `2026-07-28`. Undefined if the library does not implement it. */
export function findRevision(version: unknown): Revision | undefined {
  return typeof version === "string" ? byVersion.get(version) : undefined;
}

/** The revisions that open a session with `initialize`, the newest first. */
export const legacyRevisions: readonly Revision[] = /* @__PURE__ */ revisions.filter(({ kind }) => kind === "legacy");

/**
 * Returns the revision of a new session: the requested one if it is among them, otherwise the newest. Undefined without any.
 */
export function negotiateLegacy(requestedVersion: string, among: readonly Revision[]): Revision | undefined {
  return among.find(({ version }) => version === requestedVersion) ?? among[0];
}

const modernEncoders: ReadonlyMap<Revision, Encoder> = /* @__PURE__ */ new Map([[july2026.revision, july2026.encoder]]);

/** Returns the encoder of a modern revision. */
export function modernEncoderOf(revision: Revision): Encoder {
  return modernEncoders.get(revision)!;
}

// Apart from the modern ones, so that bundlers remove them from code that speaks only modern revisions.
const legacyEncoders: ReadonlyMap<Revision, Encoder> = /* @__PURE__ */ new Map([
  [november2025.revision, november2025.encoder],
  [june2025.revision, june2025.encoder],
  [march2025.revision, march2025.encoder],
  [november2024.revision, november2024.encoder],
  [october2024.revision, october2024.encoder],
]);

/** Returns the encoder of a legacy revision. */
export function legacyEncoderOf(revision: Revision): Encoder {
  return legacyEncoders.get(revision)!;
}
