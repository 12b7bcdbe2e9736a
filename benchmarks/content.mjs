// @ts-check
import { createHash } from "node:crypto";

/*
 * The tools, texts and names that every implementation serves. It imports no package, because it is copied into the folder of the peers.
 */

export const serverInfo = { name: "benchmark", version: "1.0.0" };

/** The text to echo, which has the length of a short question. */
export const question = "Where in the handbook does it say who is on call tonight, and since when?";

/** The input properties of each tool except `echo` and `add`. */
export const fillerProperties = {
  query: { type: "string", description: "What to look for, in plain words." },
  limit: { type: "integer", minimum: 1, maximum: 100, description: "How many to give at most." },
  isExact: { type: "boolean", description: "Whether every word has to be there." },
};

/** @param {number} index */
export const fillerName = (index) => `search_collection_${index}`;

/** @param {number} index */
export const fillerDescription = (index) =>
  `Searches collection ${index} for documents, and gives the best of them first.`;

/** Returns the names of the first `count` tools. @param {number} count */
export function toolNames(count) {
  return ["echo", "add", ...Array.from({ length: Math.max(0, count - 2) }, (_, index) => fillerName(index))].slice(
    0,
    count,
  );
}

/** @param {string} name */
export const greeting = (name) => `Greet ${name}, and ask what they would like to do today.`;

export const pageUri = "bench://page";
export const bookUri = "bench://book";

/** @param {string} id */
export const itemText = (id) => `Item ${id} of the collection.`;

const line = "All that is solid in the handbook was once a question that somebody asked. ";

/** @param {number} length */
const textOf = (length) => line.repeat(Math.ceil(length / line.length)).slice(0, length);

/** 64 KiB of text. */
export const page = textOf(64 * 1024);

/** 10 MiB of text, made when it is first needed. */
export function book() {
  return (madeBook ??= textOf(10 * 1024 * 1024));
}

/** @type {string | undefined} */
let madeBook;

/** @param {string} text */
export const digestOf = (text) => createHash("sha256").update(text).digest("base64url");

/** Returns the text of the result of a tool that returns one text. @param {{ content: readonly { type: string, text?: string }[] }} result */
export function resultText({ content: [block] }) {
  return block?.text ?? "";
}
