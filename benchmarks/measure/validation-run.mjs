// @ts-check
import { fail, job } from "../load/job.mjs";
import { takeTurns } from "../load/take-turns.mjs";
import { validationCases } from "../workloads/validation-cases.mjs";

/** Runs one validator: validates one value repeatedly during its turn. */
try {
  const { file, name, isValid, batch } = job;
  const found = validationCases[name];
  if (!found) throw new Error(`There is no case "${name}".`);
  const value = isValid ? found.valid : found.invalid;
  const { compile, compileJsonSchema } = await import(file);
  const isAccepted = compile ? compile(found.schema) : ours(compileJsonSchema(found.schema));
  takeTurns(async (end, onAnswer) => {
    do {
      const begun = performance.now();
      for (let count = 0; count < batch; count++) {
        if (isAccepted(value) !== isValid) throw new Error(`The validator has the wrong verdict for "${name}".`);
      }
      onAnswer(performance.now() - begun);
    } while (performance.now() < end);
  });
} catch (error) {
  fail(error);
}

/** @param {(value: unknown) => { issues?: unknown }} validate */
function ours(validate) {
  return (/** @type {unknown} */ value) => validate(value).issues === undefined;
}
