import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import type { ElicitResult, RequestedSchema } from "../../elicitation.ts";

export interface LoweredForm {
  requestedSchema: RequestedSchema;
  lift: (result: ElicitResult) => ElicitResult;
}

interface Choice {
  const: string;
  title?: string;
}

/**
 * Says a form in the words of 2025-06-18, which had no titled choices but `enumNames`, and no choice of several.
 *
 * A choice of several becomes a text that asks for the values with commas between them, and is read back as an array.
 */
export function lowerForm(schema: RequestedSchema): LoweredForm {
  const properties: Record<string, JsonObject> = {};
  const several: string[] = [];
  for (const [name, property] of Object.entries(schema.properties)) {
    if (property.type === "array") several.push(name);
    properties[name] = property.type === "array" ? asText(property) : withEnumNames(property);
  }
  const lift = (result: ElicitResult): ElicitResult => (several.length === 0 ? result : splitTexts(result, several));
  return { requestedSchema: { ...schema, properties }, lift };
}

function withEnumNames(property: JsonObject): JsonObject {
  const choices = readChoices(property.oneOf);
  if (!choices) return property;
  const { oneOf: _, ...rest } = property;
  return {
    ...rest,
    enum: choices.map((choice) => choice.const),
    enumNames: choices.map((choice) => choice.title ?? choice.const),
  };
}

function asText(property: JsonObject): JsonObject {
  const items = isObject(property.items) ? property.items : {};
  const values = readChoices(items.anyOf)?.map((choice) => choice.const) ?? (items.enum as string[] | undefined) ?? [];
  const lowered: JsonObject = { type: "string" };
  if (property.title !== undefined) lowered.title = property.title;
  const hint = `Any of ${values.join(", ")}; put commas between several.`;
  lowered.description = typeof property.description === "string" ? `${property.description} ${hint}` : hint;
  if (Array.isArray(property.default)) lowered.default = property.default.join(", ");
  return lowered;
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

function readChoices(value: unknown): Choice[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((choice) => isObject(choice) && typeof choice.const === "string")
    ? (value as Choice[])
    : undefined;
}
