import { LocalError } from "../../rpc/errors.ts";
import { ErrorCode } from "../errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { ElicitParams, ElicitResult, RequestedSchema } from "../elicitation.ts";
import { Notification } from "../methods.ts";
import type { CreateMessageParams, SamplingContent, SamplingMessage } from "../sampling.ts";
import { encoder as newerEncoder, revision as newer } from "./2025-11-25.ts";
import { type EncodedElicitation, type Encoder, deriveEncoder, omit } from "./encoder.ts";
import type { Revision } from "./revision.ts";

/** Has elicitation by form only, no icons, no tools in sampling, and no tasks. */
export const revision: Revision = {
  ...newer,
  version: "2025-06-18",
  serverNotifications: new Set(
    [...newer.serverNotifications].filter((name) => name !== Notification.elicitationComplete),
  ),
  errorCodes: new Set([ErrorCode.ResourceNotFound]),
  polls: false,
  requestedTasks: false,
  inputModes: false,
};

export const encoder: Encoder = /* @__PURE__ */ deriveEncoder(newerEncoder, {
  tool: (tool) => omit(newerEncoder.tool(tool), "icons"),
  prompt: (prompt) => omit(prompt, "icons"),
  resource: (resource) => omit(resource, "icons"),
  resourceTemplate: (template) => omit(template, "icons"),
  content: (content) => omit(content, "icons"),
  implementation: (implementation) => omit(implementation, "icons", "description", "websiteUrl"),
  elicitation: encodeElicitation,
  createMessage: encodeSampling,
});

/** A sampling message held one content block, without tools. Several blocks become as many messages. */
function encodeSampling(params: CreateMessageParams): CreateMessageParams {
  const messages = params.messages.flatMap(splitMessage);
  if (params.tools || messages.some(({ content }) => (content as SamplingContent).type.startsWith("tool_"))) {
    throw new LocalError(
      "not_capable",
      "The protocol revision of this client has no sampling with tools (sampling.tools).",
    );
  }
  return { ...omit(params, "toolChoice"), messages };
}

function splitMessage(message: SamplingMessage): SamplingMessage[] {
  const { content, role } = message;
  return Array.isArray(content) ? content.map((block) => ({ role, content: block })) : [omit(message, "_meta")];
}

/**
 * Encodes a form. This revision has `enumNames` instead of titled choices, and no choice of several values.
 *
 * A choice of several values becomes a text property that asks for values with commas between them. The answer is
 * decoded to an array.
 */
function encodeElicitation(params: ElicitParams): EncodedElicitation {
  if (params.mode === "url") {
    throw new LocalError(
      "not_capable",
      "The protocol revision of this client has no elicitation by URL (elicitation.url).",
    );
  }
  const { mode: _, ...form } = params;
  const properties: RequestedSchema["properties"] = {};
  const several: string[] = [];
  for (const [name, property] of Object.entries(form.requestedSchema.properties)) {
    if (property.type === "array") several.push(name);
    properties[name] = describeDefault(property.type === "array" ? asText(property) : withEnumNames(property));
  }
  return {
    params: { ...form, requestedSchema: { ...omit(form.requestedSchema, "$schema"), properties } },
    decode: (result) => (several.length === 0 ? result : splitTexts(result, several)),
  };
}

/** Only a boolean could have a default. The description names any other. */
function describeDefault(property: JsonObject): JsonObject {
  const { default: value, description } = property;
  if (value === undefined || property.type === "boolean") return property;
  const hint = `Default: ${typeof value === "string" ? value : JSON.stringify(value)}.`;
  return {
    ...omit(property, "default"),
    description: typeof description === "string" ? `${description} ${hint}` : hint,
  };
}

function withEnumNames(property: JsonObject): JsonObject {
  const choices = readChoices(property.oneOf);
  if (!choices) return property;
  const { oneOf: _, ...otherMembers } = property;
  return {
    ...otherMembers,
    enum: choices.map((choice) => choice.const),
    enumNames: choices.map((choice) => choice.title ?? choice.const),
  };
}

function asText(property: JsonObject): JsonObject {
  const items = isObject(property.items) ? property.items : {};
  const values = readChoices(items.anyOf)?.map((choice) => choice.const) ?? (items.enum as string[] | undefined) ?? [];
  const textProperty: JsonObject = { type: "string" };
  if (property.title !== undefined) textProperty.title = property.title;
  const hint = `Any of ${values.join(", ")}; separate several with commas.`;
  textProperty.description = typeof property.description === "string" ? `${property.description} ${hint}` : hint;
  if (Array.isArray(property.default)) textProperty.default = property.default.join(", ");
  return textProperty;
}

function splitTexts(result: ElicitResult, names: string[]): ElicitResult {
  if (!result.content) return result;
  const content = { ...result.content };
  for (const name of names) {
    const text = content[name];
    if (typeof text !== "string") continue;
    content[name] = text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }
  return { ...result, content };
}

interface Choice {
  const: string;
  title?: string;
}

function readChoices(value: unknown): Choice[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every(isChoice) ? value : undefined;
}

function isChoice(value: unknown): value is Choice {
  return isObject(value) && typeof value.const === "string";
}
