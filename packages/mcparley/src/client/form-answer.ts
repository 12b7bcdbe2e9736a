import { LocalError, invalidParams } from "../jsonrpc/errors.ts";
import { type JsonObject, isObject } from "../jsonrpc/messages.ts";
import type { RequestedSchema } from "../protocol/elicitation.ts";
import { compileJsonSchema } from "../schema/json-schema.ts";
import { formatIssue } from "../schema/schema.ts";

type Content = Record<string, string | number | boolean | string[]>;

/**
 * Prepares the check of a form's answer, so that a schema that is at fault is refused before anybody is asked.
 *
 * What was left out and has a default is filled in. Throws `invalid_result` for an answer that does not fit.
 */
export function prepareForm(schema: RequestedSchema): (content: Content | undefined) => Content {
  const validate = compile(schema);
  return (content = {}) => {
    const outcome = validate({ ...defaultsOf(schema), ...content });
    if (!outcome.issues) return outcome.value as Content;
    const issues = outcome.issues.map(formatIssue).join("; ");
    throw new LocalError("invalid_result", `The answer of the elicit handler does not fit the form: ${issues}`);
  };
}

function compile(schema: RequestedSchema): ReturnType<typeof compileJsonSchema> {
  try {
    return compileJsonSchema(schema as unknown as JsonObject);
  } catch (error) {
    throw invalidParams(`params.requestedSchema cannot be used: ${(error as Error).message}`);
  }
}

function defaultsOf({ properties }: RequestedSchema): JsonObject {
  const withDefault = Object.entries(properties).filter(([, property]) => isObject(property) && "default" in property);
  return Object.fromEntries(withDefault.map(([name, property]) => [name, property.default]));
}
