import type { JsonObject } from "mcparley";
import { validateJson } from "mcparley/client";

/** Maximum number of problems that are shown. */
const mostProblems = 5;

/**
 * Returns a sentence for each member of an object that does not match a schema, such as `limit must be integer, not string.` `member` limits
 * them to one member. An object is accepted if the schema cannot be checked, because its server checks it.
 */
export async function memberProblems(schema: JsonObject, value: JsonObject, member?: string): Promise<string[]> {
  const issues = await validateJson(schema, value).catch(() => []);
  const pointer = member === undefined ? "" : `/${member.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const concerned = issues.filter(({ path }) => path === pointer || path.startsWith(`${pointer}/`));
  return concerned
    .slice(0, mostProblems)
    .map(({ path, message }) => `${path === "" ? "The object" : path.slice(1)} ${message}.`);
}
