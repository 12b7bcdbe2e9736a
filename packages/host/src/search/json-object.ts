import type { JsonObject } from "mcparley";

/** Whether the value is a JSON object, and not an array or null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
