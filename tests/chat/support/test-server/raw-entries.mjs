// @ts-check
import { hostileText } from "./hostile.mjs";

/** @import { MethodMiddleware } from "mcparley/server" */
/** @typedef {Record<string, any>} Entry */

/** The URI of a resource that the library does not accept in a definition, but other servers send. */
const spaced = "note://with space";

/**
 * Adds entries to the lists that `createServer` refuses: a resource whose URI has a space, and with `hasHostileNames` a tool, a
 * prompt, a resource and a template with hostile names, titles and descriptions.
 *
 * @param {{ hasHostileNames: boolean }} options @returns {MethodMiddleware}
 */
export function rawEntries({ hasHostileNames }) {
  const name = `name ${hostileText}`;
  const texts = { name, title: `title ${hostileText}`, description: `description ${hostileText}` };
  const inputSchema = {
    type: "object",
    properties: { [`property ${hostileText}`]: { type: "string", description: `property ${hostileText}` } },
  };
  const hostile = (/** @type {Entry} */ entry) => (hasHostileNames ? [{ ...texts, ...entry }] : []);
  const contents = (/** @type {string} */ uri, /** @type {string} */ text) => ({ contents: [{ uri, text }] });
  return {
    "tools/list": added("tools", hostile({ inputSchema })),
    "prompts/list": added("prompts", hostile({ arguments: [{ ...texts, required: true }] })),
    "resources/list": added("resources", [
      { uri: spaced, name: "spaced" },
      ...hostile({ uri: `hostile://${hostileText}` }),
    ]),
    "resources/templates/list": added("resourceTemplates", hostile({ uriTemplate: `hostile://${hostileText}/{part}` })),
    "tools/call": (call, next) =>
      call.params.name === name ? { content: [{ type: "text", text: `called ${hostileText}` }] } : next(),
    "prompts/get": (call, next) => {
      const content = { type: "text", text: `prompt ${hostileText}` };
      return call.params.name === name ? { messages: [{ role: "user", content }] } : next();
    },
    "resources/read": (call, next) => {
      const { uri } = call.params;
      if (uri === spaced) return contents(uri, "A note whose URI has a space.");
      return uri.startsWith("hostile://") ? contents(uri, `resource ${hostileText}`) : next();
    },
  };
}

/** Returns a middleware that adds entries to the first page of a list. @param {string} list @param {readonly Entry[]} entries */
function added(list, entries) {
  return async (
    /** @type {{ params: { cursor?: string } }} */ { params },
    /** @type {() => Promise<Entry>} */ next,
  ) => {
    const result = await next();
    if (entries.length === 0 || params.cursor !== undefined) return result;
    return { ...result, [list]: [...result[list], ...entries] };
  };
}
