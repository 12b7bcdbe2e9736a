import { LocalError, invalidParams } from "../../rpc/errors.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import {
  type ElicitFormParams,
  type ElicitParams,
  type ElicitResult,
  type ElicitUrlParams,
  type RequestedSchema,
  readElicitResult,
} from "../../mcp/elicitation.ts";
import { type PeerSchema, preparePeerSchema } from "../../schema/peer-schema.ts";
import { type ValidationIssue, type Outcome, formatIssue } from "../../schema/schema.ts";
import { elicitModesOf } from "../client-capabilities.ts";
import type { InputRequestSource, ConnectOptions } from "../options.ts";
import { findUnsafe } from "../../mcp/checks/safe-url.ts";

type Content = Record<string, string | number | boolean | string[]>;

/** A valid elicitation. It has a form unless it is a URL. */
interface Elicitation {
  params: ElicitParams;
  form?: Form;
}

interface Form {
  /** Fills in the defaults of omitted fields. Throws `invalid_result` for an answer that does not match the schema. */
  complete(content: Content | undefined): Content;
  /** Returns the problems of an answer, defaults filled in. */
  check(content: Content): readonly ValidationIssue[];
}

/** Checks an elicitation and prepares its form, so that an unusable schema is rejected before the user sees it. */
export async function readElicitation(
  params: JsonObject,
  options: ConnectOptions,
  report: (error: Error) => void,
): Promise<Elicitation> {
  const { mode = "form", message, requestedSchema } = params;
  if (typeof message !== "string") throw invalidParams("params.message must be a string");
  if (mode !== "form" && mode !== "url") throw invalidParams('params.mode must be "form" or "url"');
  if (!elicitModesOf(options).includes(mode)) {
    throw invalidParams(`This client has not declared the capability elicitation.${mode}`);
  }
  if (mode === "url") {
    const unsafe = findUnsafe(params.url);
    if (unsafe) throw invalidParams(`params.${unsafe}`);
    return { params: params as unknown as ElicitUrlParams };
  }
  if (!isObject(requestedSchema) || !isObject(requestedSchema.properties)) {
    throw invalidParams("params.requestedSchema must be an object with properties");
  }
  const form = params as unknown as ElicitFormParams;
  return { params: form, form: await prepareForm(form.requestedSchema, report) };
}

/** Calls the elicit handler and checks its answer. */
export async function elicit(
  { params, form }: Elicitation,
  options: ConnectOptions,
  source: InputRequestSource,
): Promise<JsonObject & ElicitResult> {
  let result: ElicitResult;
  try {
    const given = await options.elicit?.(
      params,
      form ? { ...source, check: (content) => form.check(content) } : source,
    );
    result = readElicitResult(given);
  } catch (error) {
    if (error instanceof Declined) return { action: "decline" };
    if (error instanceof Cancelled) return { action: "cancel" };
    throw error;
  }
  const { action, content, _meta } = result;
  const meta = _meta ? { _meta } : {};
  return form && action === "accept" ? { action, content: form.complete(content), ...meta } : { action, ...meta };
}

/** `report` receives an error for each part of the schema that cannot be checked. */
async function prepareForm(schema: RequestedSchema, report: (error: Error) => void): Promise<Form> {
  const { validate, unchecked } = await prepareSchema(schema);
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
      throw new LocalError("invalid_result", `The answer of the elicit handler does not match the form: ${issues}`);
    },
  };
}

async function prepareSchema(schema: RequestedSchema): Promise<PeerSchema> {
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
