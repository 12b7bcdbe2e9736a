// @ts-check
import { appendFileSync } from "node:fs";
import { createRequire, register } from "node:module";

/*
 * Loaded with `--import`: appends the URL of each module that the process loads to the file in MODULES_FILE. Modules of ES
 * are recorded by a hook, and modules of CommonJS at the exit of the process.
 */
const file = String(process.env.MODULES_FILE);
const hooks = `
  import { appendFileSync } from "node:fs";
  let file;
  export function initialize(data) { file = data; }
  export async function load(url, context, next) {
    appendFileSync(file, url + "\\n");
    return next(url, context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: file });
process.on("exit", () => {
  appendFileSync(file, Object.keys(createRequire(import.meta.url).cache).join("\n"));
});
