import { LocalError } from "../../rpc/errors.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { readElicitResult } from "../../mcp/elicitation.ts";
import { Method } from "../../mcp/methods.ts";
import { type Root, readRoots } from "../../mcp/roots.ts";
import {
  type CreateMessageParams,
  type CreateMessageResult,
  findToolImbalance,
  readCreateMessageResult,
} from "../../mcp/sampling.ts";
import { toRequestedSchema } from "../../mcp/form-schema.ts";
import { compileSchema } from "../../schema/compile-schema.ts";
import { InvalidAnswer, type Question, capabilityFor } from "./input-channel.ts";
import type { FormQuestion, UrlQuestion } from "../dispatch/context.ts";
import type { Schema } from "../definition.ts";

/** The question that asks the user to fill in a form. Its answer is the parsed content. */
export function formQuestion(question: FormQuestion<Schema>): Question {
  const { message, schema, key } = question;
  const compiled = compileSchema(schema, "input");
  return {
    method: Method.elicit,
    params: { mode: "form", message, requestedSchema: toRequestedSchema(compiled.json) },
    key,
    requires: { elicitation: { form: {} } },
    read: async (result) => {
      const content = acceptedContent(result);
      const outcome = await compiled.validate(content ?? {});
      if (!outcome.issues) return outcome.value;
      const issues = outcome.issues.map((issue) => `${issue.path || "/"}: ${issue.message}`).join("; ");
      throw new InvalidAnswer(`The answer to "${message}" does not match what was asked for: ${issues}`);
    },
  };
}

/** The question that sends the user to a URL. Accepting says that the user went there, not that anything is done. */
export function urlQuestion(question: UrlQuestion): Question<void> {
  const { message, url, key } = question;
  if (!URL.canParse(url)) throw new TypeError(`elicit needs an absolute URL; got "${url.slice(0, 80)}".`);
  return {
    method: Method.elicit,
    params: { mode: "url", message, url },
    key,
    requires: { elicitation: { url: {} } },
    read: (result) => {
      acceptedContent(result);
    },
  };
}

export function samplingQuestion({
  key,
  ...params
}: CreateMessageParams & { key?: string }): Question<CreateMessageResult> {
  const imbalance = findToolImbalance(params.messages);
  if (imbalance) throw new TypeError(`sample: ${imbalance}.`);
  return {
    method: Method.createMessage,
    params,
    key,
    requires: capabilityFor(Method.createMessage, { ...params }),
    read: readAs(readCreateMessageResult),
  };
}

export function rootsQuestion(): Question<Root[]> {
  return { method: Method.listRoots, params: {}, key: undefined, requires: { roots: {} }, read: readAs(readRoots) };
}

function acceptedContent(result: unknown): JsonObject | undefined {
  const { action, content } = readAs(readElicitResult)(result);
  if (action === "decline") throw new Declined();
  if (action === "cancel") throw new Cancelled();
  return content;
}

/** A malformed answer is one to ask for again, not the end of the call. */
function readAs<T>(read: (result: unknown) => T): (result: unknown) => T {
  return (result) => {
    try {
      return read(result);
    } catch (error) {
      throw error instanceof LocalError ? new InvalidAnswer(error.message) : error;
    }
  };
}
