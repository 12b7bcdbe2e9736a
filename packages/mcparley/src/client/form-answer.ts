import { LocalError, invalidParams } from "../jsonrpc/errors.ts";
import { type JsonObject, isObject } from "../jsonrpc/messages.ts";
import type { RequestedSchema } from "../protocol/elicitation.ts";
import { type PeerSchema, preparePeerSchema } from "../schema/peer-schema.ts";
import { formatIssue } from "../schema/schema.ts";

type Content = Record<string, string | number | boolean | string[]>;

/** Checks the answer to a form and fills in its defaults. Throws `invalid_result` for an answer that does not fit. */
export type CompleteForm = (content: Content | undefined) => Content;

/**
 * Prepares the check of a form's answer, so that an unusable schema is refused before the user sees the form. `report`
 * receives an error for each part of the schema that cannot be checked.
 */
export async function prepareForm(schema: RequestedSchema, report: (error: Error) => void): Promise<CompleteForm> {
  const { validate, unchecked } = await prepare(schema);
  for (const reason of unchecked) {
    report(new LocalError("invalid_message", `Answers to a form of the server are not fully checked. ${reason}`));
  }
  return (content = {}) => {
    const outcome = validate({ ...defaultsOf(schema), ...content });
    if (!outcome.issues) return outcome.value as Content;
    const issues = outcome.issues.map(formatIssue).join("; ");
    throw new LocalError("invalid_result", `The answer of the elicit handler does not fit the form: ${issues}`);
  };
}

async function prepare(schema: RequestedSchema): Promise<PeerSchema> {
  try {
    return await preparePeerSchema(schema as unknown as JsonObject);
  } catch (error) {
    throw invalidParams(`params.requestedSchema cannot be used: ${(error as Error).message}`);
  }
}

function defaultsOf({ properties }: RequestedSchema): JsonObject {
  const withDefault = Object.entries(properties).filter(([, property]) => isObject(property) && "default" in property);
  return Object.fromEntries(withDefault.map(([name, property]) => [name, property.default]));
}
