import * as october2024 from "./2024-10-07.ts";
import * as november2024 from "./2024-11-05.ts";
import * as march2025 from "./2025-03-26.ts";
import * as june2025 from "./2025-06-18.ts";
import * as november2025 from "./2025-11-25.ts";
import type { Encoder } from "./encoder.ts";
import type { Revision } from "./revision.ts";

const encoders: ReadonlyMap<Revision, Encoder> = new Map(
  [november2025, june2025, march2025, november2024, october2024].map(({ revision, encoder }) => [revision, encoder]),
);

/** Returns the encoder of a legacy revision. The encoders are apart from `index.ts` to be loaded with a legacy client. */
export function legacyEncoderOf(revision: Revision): Encoder {
  return encoders.get(revision)!;
}
