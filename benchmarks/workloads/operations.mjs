// @ts-check
import { bookUri, book, digestOf, greeting, itemText, page, pageUri, question, toolNames } from "../content.mjs";

/** @import { Operation } from "../types.ts" */

/** @type {Operation} */
export const echo = {
  name: "tools/call echo",
  method: "tools/call",
  mirrored: "echo",
  params: { name: "echo", arguments: { text: question } },
  expected: { kind: "text", text: question },
};

/** The same with 10 MiB. @returns {Operation} */
export function echoLarge() {
  const text = book();
  const params = { name: "echo", arguments: { text } };
  return { ...echo, params, expected: { kind: "text", text } };
}

/** @type {Operation} */
export const add = {
  name: "tools/call add, structured",
  method: "tools/call",
  mirrored: "add",
  params: { name: "add", arguments: { a: 19, b: 23 } },
  expected: { kind: "structured", value: { sum: 42 } },
};

/** Notifies all subscribers of a change. @type {Operation} */
export const change = {
  name: "change",
  method: "tools/call",
  mirrored: "change",
  params: { name: "change", arguments: {} },
  expected: { kind: "text", text: "changed" },
};

/** @param {number} count @returns {Operation} */
export const listTools = (count) => ({
  name: `tools/list, ${count} tools`,
  method: "tools/list",
  params: {},
  expected: { kind: "tools", names: toolNames(count) },
});

/** @type {Operation} */
export const getPrompt = {
  name: "prompts/get",
  method: "prompts/get",
  mirrored: "greet",
  params: { name: "greet", arguments: { name: "Ada" } },
  expected: { kind: "prompt", text: greeting("Ada") },
};

/** @param {string} name @param {string} uri @param {string} text @returns {Operation} */
const read = (name, uri, text) => ({
  name,
  method: "resources/read",
  mirrored: uri,
  params: { uri },
  expected: { kind: "resource", uri, digest: digestOf(text) },
});

export const readPage = read("resources/read, 64 KiB", pageUri, page);
export const readItem = read("resources/read of a template", "bench://items/4711", itemText("4711"));
/** Made when it is needed, since it is large. */
export const readBook = () => read("resources/read, 10 MiB", bookUri, book());
