// @ts-check
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { publishedPackages } from "./packages.mjs";
import { makeReady, root } from "./ready.mjs";

/** Writes the API reports of the published packages to the folder `api` of each package. The tests compare them with the declarations. */
makeReady();
// A fresh clone installs the parser that the report needs.
const { apiReport } = await import("./api/report.mjs");

for (const published of publishedPackages()) {
  const reports = apiReport(published);
  const folder = path.join(root, published.folder, "api");
  if (reports.size > 0) mkdirSync(folder, { recursive: true });
  for (const [file, text] of reports) write(path.join(folder, file), text);
  const gone = existsSync(folder) ? readdirSync(folder).filter((file) => !reports.has(file)) : [];
  for (const file of gone) rmSync(path.join(folder, file));
}

/** @param {string} file @param {string} text */
function write(file, text) {
  const isCurrent = existsSync(file) && readFileSync(file, "utf8") === text;
  if (!isCurrent) writeFileSync(file, text);
  process.stdout.write(`${isCurrent ? "unchanged" : "written  "}  ${path.relative(root, file)}\n`);
}
