import Ajv from "ajv/dist/2020.js";

/** Generates code with `new Function`. It is the fastest approach, and unavailable if `eval` is forbidden. */
export function compile(schema) {
  return new Ajv.default({ strict: false, allErrors: true, validateFormats: false, logger: false }).compile(schema);
}
