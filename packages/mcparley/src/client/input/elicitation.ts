import { LocalError, invalidParams } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { RequestedSchema } from "../../mcp/elicitation.ts";
import { type PeerSchema, preparePeerSchema } from "../../schema/peer-schema.ts";
import { type Issue, type Outcome, formatIssue } from "../../schema/schema.ts";

type Content = Record<string, string | number | boolean | string[]>;

/** A form of a server that is ready to be answered. */
export interface Form {
  /** Fills in the defaults of fields that were left out. Throws `invalid_result` for an answer that does not fit. */
  complete(content: Content | undefined): Content;
  /** Returns the problems of an answer, defaults filled in. */
  check(content: Content): readonly Issue[];
}

/**
 * Prepares a form, so that an unusable schema is refused before the user sees it. `report` receives an error for each part
 * of the schema that cannot be checked.
 */
export async function prepareForm(schema: RequestedSchema, report: (error: Error) => void): Promise<Form> {
  const { validate, unchecked } = await prepare(schema);
  for (const reason of unchecked) {
    report(new LocalError("invalid_message", `Answers to a form of the server are not fully checked. ${reason}`));
  }
  const check = (content: Content = {}): Outcome => validate({ ...defaultsOf(schema), ...content });
  return {
    check: (content) => check(content).issues ?? [],
    complete: (content) => {
      const outcome = check(content);
      if (!outcome.issues) return outcome.value as Content;
      const issues = outcome.issues.map(formatIssue).join("; ");
      throw new LocalError("invalid_result", `The answer of the elicit handler does not fit the form: ${issues}`);
    },
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
