// @ts-check
import path from "node:path";
import { createInterface } from "node:readline/promises";

/** @import { Project } from "./create.js" */

/**
 * Asks for each part of a project. Enter accepts the value that is shown.
 *
 * @param {Project} given
 * @param {NodeJS.ReadableStream} [input]
 * @param {NodeJS.WritableStream} [output]
 * @returns {Promise<Project>}
 */
export async function ask(given, input = process.stdin, output = process.stdout) {
  const terminal = createInterface({ input, output });
  const lines = terminal[Symbol.asyncIterator]();
  const question = async (/** @type {string} */ label, /** @type {string} */ value) => {
    output.write(`${label} (${value}): `);
    const { value: line } = await lines.next();
    return line?.trim() || value;
  };
  try {
    const folder = await question("Folder", given.folder);
    const isDefault = given.name === path.basename(path.resolve(given.folder));
    const name = await question("Name", isDefault ? path.basename(path.resolve(folder)) : given.name);
    const transport = await question("Transport, stdio or http", given.transport);
    return { folder, name, transport: /^h/i.test(transport) ? "http" : "stdio" };
  } finally {
    terminal.close();
  }
}
