import { lowering as prerelease } from "./2024-10-07/lowering.ts";
import { lowering as first } from "./2024-11-05/lowering.ts";
import { lowering as march2025 } from "./2025-03-26/lowering.ts";
import { lowering as june2025 } from "./2025-06-18/lowering.ts";
import { lowering as november2025 } from "./2025-11-25/lowering.ts";
import type { Lowering } from "./lowering.ts";
import type { Revision } from "./revision.ts";
import { revisions } from "./revisions.ts";

/** In the order of `revisions`: the newest first. */
const inOrder: readonly Lowering[] = [november2025, june2025, march2025, first, prerelease];

const byRevision: ReadonlyMap<Revision, Lowering> = new Map(
  revisions.filter(({ era }) => era === "legacy").map((revision, index) => [revision, inOrder[index] as Lowering]),
);

/** How things are said in a legacy revision; apart from the modern ones, so that it is loaded for those who speak one. */
export function legacyLoweringOf(revision: Revision): Lowering {
  return byRevision.get(revision) as Lowering;
}
