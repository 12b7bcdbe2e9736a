import { Validator } from "@cfworker/json-schema";

/** Stops at the first error, and validates again for all errors if there is one, as mcparley did with this package. */
export function compile(schema) {
  const first = new Validator(schema, "2020-12", true);
  const all = new Validator(schema, "2020-12", false);
  return (value) => first.validate(value).valid || all.validate(value).valid;
}
