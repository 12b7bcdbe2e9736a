import fc from "fast-check";
import type { Reader } from "../hostile/reader.mjs";
import { readers } from "../hostile/readers.mjs";
import { units } from "../hostile/texts.mjs";
import { type Growing, expectLinearTime, grown } from "../support/linear-time.ts";
import { withinLimit } from "../support/work-limit.ts";
import { holds } from "./holds.ts";

const unit = fc.constantFrom(...Object.values(units));

/** Texts for a reader whose middle part is one of the hostile units, or a composition of a few. */
function growingFor({ around = [{}] }: Reader): fc.Arbitrary<Growing> {
  const middle = fc.oneof(
    unit,
    fc.array(unit, { minLength: 2, maxLength: 4 }).map((some) => some.join("")),
  );
  return fc
    .record({ around: fc.constantFrom(...around), unit: middle })
    .map(({ around: { head = "", tail = "" }, unit: repeated }) => ({ head, unit: repeated, tail }));
}

for (const reader of readers) {
  const { maxBytes = 1_048_576 } = reader;
  const longest = Math.min(1_048_576, maxBytes);
  holds(
    `hostile texts: ${reader.name} takes linear time`,
    growingFor(reader),
    async (growing) => {
      const read = await reader.load();
      // A quadratic part with a small factor shows at this length only: it exceeds the limit of a case.
      await withinLimit(() => read(grown(growing, longest)));
      await expectLinearTime(growing, read, { largest: longest / 2 });
    },
    { runs: 2 },
  );
}
