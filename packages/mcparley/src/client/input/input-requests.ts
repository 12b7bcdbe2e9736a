import { unlessAborted } from "../../rpc/abort.ts";
import { LocalError, ProtocolError, invalidParams } from "../../rpc/errors.ts";
import { ErrorCode, Cancelled, Declined } from "../../mcp/errors.ts";
import { findNotJson } from "../../rpc/json-values.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Root } from "../../mcp/roots.ts";
import { type CreateMessageParams, findToolImbalance } from "../../mcp/sampling.ts";
import type { InputRequestSource, ConnectOptions } from "../options.ts";
import { type ElicitParams, type ElicitResult, type RequestedSchema, readElicitResult } from "../../mcp/elicitation.ts";
import { resolveForm, withoutUnrequested } from "../../mcp/form-schema.ts";
import { preparePeerSchema } from "../../schema/validation/peer-schema.ts";
import { type ValidationIssue, type Outcome, formatIssue } from "../../schema/schema.ts";
import { elicitModesOf } from "../client-capabilities.ts";
import { findUnsafe } from "../../mcp/checks/safe-url.ts";

/** Answers a request of a server for input: elicitation, sampling or roots. */
export type AnswerInput = (method: string, params: JsonObject, source: InputRequestSource) => Promise<JsonObject>;

/**
 * Makes the function that answers the input requests of a server with the client's handlers, in all revisions.
 *
 * It rejects an invalid request with a `ProtocolError` for the server, before a handler is called. All other errors belong
 * to this side. Elicitations are handled one after another, so that the user sees one at a time. `report` receives errors
 * that reject nothing, for example about a part of a form's schema that cannot be checked.
 */
export function inputRequests(options: ConnectOptions, report: (error: Error) => void): AnswerInput {
  const { sample, roots } = options;
  /** Settles when the user is free for the next elicitation. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> => {
    const elicitation = turn.then(() => {
      signal.throwIfAborted();
      return unlessAborted(run(), signal, "The elicitation");
    });
    turn = elicitation.catch(() => {});
    // An aborted elicitation stays in the queue. It is skipped when its turn comes.
    return unlessAborted(elicitation, signal, "The elicitation");
  };
  const answer: AnswerInput = async (method, params, source) => {
    source.signal.throwIfAborted();
    if (method === Method.elicit && options.elicit) {
      const elicitation = await readElicitation(params, options, report);
      return inTurn(source.signal, () => elicit(elicitation, options, source));
    }
    if (method === Method.createMessage && sample) return createMessage(params, options, source);
    if (method === Method.listRoots && roots) {
      if (typeof roots !== "function") return { roots: checkRoots(roots) };
      const listing = Promise.resolve(roots(source));
      return { roots: checkRoots(await unlessAborted(listing, source.signal, "Listing the roots")) };
    }
    const message = `Method not found, or its capability was not declared: ${method.slice(0, 200)}`;
    throw new ProtocolError(ErrorCode.MethodNotFound, message);
  };
  return async (method, params, source) => {
    const result = await answer(method, params, source);
    const wrong = findNotJson(result, "");
    if (wrong === undefined) return result;
    throw new LocalError(
      "invalid_result",
      `The answer to ${method} cannot be sent: ${wrong}, which JSON cannot represent.`,
    );
  };
}

async function createMessage(
  params: JsonObject,
  { sample, sampleTools }: ConnectOptions,
  source: InputRequestSource,
): Promise<JsonObject> {
  const { messages, tools, toolChoice } = params;
  if (!Array.isArray(messages) || !messages.every(isMessage)) {
    throw invalidParams("params.messages must be an array of messages, each with a role and content");
  }
  if ((tools !== undefined || toolChoice !== undefined) && !sampleTools) {
    const member = tools === undefined ? "toolChoice" : "tools";
    throw invalidParams(`params.${member}: this client has not declared the capability sampling.tools`);
  }
  const request = params as unknown as CreateMessageParams;
  const imbalance = findToolImbalance(request.messages);
  if (imbalance) throw invalidParams(`params.${imbalance}`);
  const result = await unlessAborted(Promise.resolve(sample?.(request, source)), source.signal, "Sampling");
  if (isObject(result)) return { ...result };
  throw new LocalError("invalid_result", "The sample handler must return an object with role, content and model.");
}

function isMessage(message: unknown): boolean {
  if (!isObject(message) || (message.role !== "user" && message.role !== "assistant")) return false;
  const { content } = message;
  return isObject(content) || (Array.isArray(content) && content.every(isObject));
}

/**
 * Checks the roots of the host before they are sent: each is a `file:` URI, and none leaves the directory that it names
 * (client/roots, Security Considerations). Throws `invalid_result` for the first that does not.
 */
function checkRoots(roots: readonly Root[]): readonly Root[] {
  if (!Array.isArray(roots)) throw invalidRoots("must be an array of roots");
  for (const root of roots) {
    const uri: unknown = root.uri;
    const excerpt = JSON.stringify(String(uri).slice(0, 200));
    if (typeof uri !== "string" || !uri.startsWith("file://"))
      throw invalidRoots(`must be file:// URIs; got ${excerpt}`);
    if (!uri.isWellFormed()) throw invalidRoots(`must not contain half of a surrogate pair; got ${excerpt}`);
    if (/[/\\](\.|%2e){1,2}([/\\]|$)/i.test(uri.replaceAll(/%2f/gi, "/").replaceAll(/%5c/gi, "\\"))) {
      throw invalidRoots(`must not contain "." or ".." in their paths; got ${excerpt}`);
    }
  }
  return roots;
}

function invalidRoots(why: string): LocalError {
  return new LocalError("invalid_result", `The roots passed to connect ${why}.`);
}

type Content = NonNullable<ElicitResult["content"]>;

/** A valid elicitation. It has a form unless it is a URL. */
interface Elicitation {
  params: ElicitParams;
  form?: Form;
}

interface Form {
  /** The schema without references and alternatives, to show to the user. */
  schema: RequestedSchema;
  /** Fills in the defaults of omitted fields. Throws `invalid_result` for an answer that does not match the schema. */
  complete(content: Content | undefined): Content;
  /** Returns the problems of an answer, defaults filled in. */
  check(content: Content): readonly ValidationIssue[];
}

/** Checks an elicitation and prepares its form, so that an unusable schema is rejected before the user sees it. */
async function readElicitation(
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
    return { params: { ...params, mode, message, url: String(params.url) } };
  }
  if (!isObject(requestedSchema)) throw invalidParams("params.requestedSchema must be an object with properties");
  const form = await prepareForm(requestedSchema, report);
  return { params: { ...params, message, requestedSchema: form.schema }, form };
}

/** Calls the elicit handler and checks its answer. */
async function elicit(
  { params, form }: Elicitation,
  options: ConnectOptions,
  source: InputRequestSource,
): Promise<JsonObject & ElicitResult> {
  let result: ElicitResult;
  try {
    const answer = await options.elicit?.(
      params,
      form ? { ...source, check: (content) => form.check(content) } : source,
    );
    result = readElicitResult(answer);
  } catch (error) {
    if (error instanceof Declined) return { action: "decline" };
    if (error instanceof Cancelled) return { action: "cancel" };
    throw error;
  }
  const { action, content, _meta } = result;
  const meta = _meta ? { _meta } : {};
  return form && action === "accept" ? { action, content: form.complete(content), ...meta } : { action, ...meta };
}

/**
 * Prepares a form. Throws -32602 if no answer is valid. `report` receives an error for each part of the schema that cannot be checked,
 * and for the members of an answer that the form does not ask for.
 */
async function prepareForm(requestedSchema: JsonObject, report: (error: Error) => void): Promise<Form> {
  const { schema, validate, unchecked } = await preparePeerSchema(requestedSchema)
    .then((prepared) => ({ ...prepared, schema: resolveForm(requestedSchema) }))
    .catch((error: Error) => {
      throw invalidParams(`params.requestedSchema cannot be used: ${error.message}`);
    });
  for (const reason of unchecked) {
    report(new LocalError("invalid_message", `Answers to a form of the server are not fully checked. ${reason}`));
  }
  const withDefault = Object.entries(schema.properties).filter(
    ([, property]) => isObject(property) && "default" in property,
  );
  const defaults = Object.fromEntries(withDefault.map(([name, property]) => [name, property.default]));
  const check = (content: Content = {}): Outcome => {
    const members = Object.entries({ ...defaults, ...content }).filter(([, value]) => value !== undefined);
    return validate(Object.fromEntries(members));
  };
  return {
    schema,
    check: (content) => check(content && withoutUnrequested(content, schema).content).issues ?? [],
    complete: (answer = {}) => {
      const { content, unrequested } = withoutUnrequested(answer, schema);
      if (unrequested.length > 0) report(unrequestedMembers(unrequested));
      const outcome = check(content);
      if (!outcome.issues) return outcome.value as Content;
      const issues = outcome.issues.map(formatIssue).join("; ");
      throw new LocalError("invalid_result", `The answer of the elicit handler does not match the form: ${issues}`);
    },
  };
}

function unrequestedMembers(names: readonly string[]): LocalError {
  const list = names.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 80)));
  const more = names.length > list.length ? ` and ${names.length - list.length} more` : "";
  const message = `The answer of the elicit handler has members that the form does not ask for: ${list.join(", ")}${more}. They were not sent.`;
  return new LocalError("invalid_result", message);
}
