import { lowering as july2026 } from "./2026-07-28/lowering.ts";
import type { Lowering } from "./lowering.ts";
import type { Revision } from "./revision.ts";
import { latestModern } from "./revisions.ts";

const byRevision: ReadonlyMap<Revision, Lowering> = new Map([[latestModern, july2026]]);

/** How things are said in a modern revision. */
export function modernLoweringOf(revision: Revision): Lowering {
  return byRevision.get(revision) as Lowering;
}
