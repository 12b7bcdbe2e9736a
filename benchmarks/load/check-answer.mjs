// @ts-check
import { isDeepStrictEqual } from "node:util";
import { digestOf } from "../content.mjs";

/** @import { Expected } from "../types.ts" */

/**
 * Throws unless a response has the content that every implementation must return.
 *
 * @param {string} json @param {number} id @param {Expected} expected
 */
export function checkAnswer(json, id, expected) {
  const response = JSON.parse(json);
  const { result } = response;
  if (response.jsonrpc !== "2.0" || response.id !== id || typeof result !== "object" || result?.isError)
    throw new Error(`This is not a result of request ${id}: ${json.slice(0, 300)}`);
  const said = saidBy[expected.kind](result);
  const { kind: _, ...wanted } = expected;
  if (isDeepStrictEqual(said, wanted)) return;
  throw new Error(`Expected ${JSON.stringify(wanted).slice(0, 300)}, got ${JSON.stringify(said).slice(0, 300)}.`);
}

/** Reads the relevant part of a result, in the form of the expected value. @type {Record<Expected["kind"], (result: any) => object>} */
const saidBy = {
  text: ({ content }) => ({ text: onlyText(content) }),
  structured: ({ structuredContent }) => ({ value: structuredContent }),
  tools: ({ tools }) => ({ names: tools.map((/** @type {{ name: string }} */ { name }) => name) }),
  prompt: ({ messages }) => ({
    text: onlyText(messages.map((/** @type {{ content: unknown }} */ { content }) => content)),
  }),
  resource: ({ contents }) => ({ uri: contents[0]?.uri, digest: digestOf(String(contents[0]?.text)) }),
};

/** @param {any[]} content */
function onlyText(content) {
  return content.length === 1 && content[0].type === "text" ? content[0].text : undefined;
}
