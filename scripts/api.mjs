// @ts-check
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { apiReport } from "./api/report.mjs";
import { publishedPackages } from "./packages.mjs";
import { root } from "./ready.mjs";

/** Compares the API reports in the folder `api` of each published package with the declarations. `--update` writes them. */
const isUpdate = process.argv.includes("--update");

for (const published of publishedPackages()) {
  const reports = apiReport(published);
  const folder = path.join(root, published.folder, "api");
  const written = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of new Set([...reports.keys(), ...written])) compare(path.join(folder, name), reports.get(name));
}

/** @param {string} file @param {string | undefined} text undefined if there is no such report */
function compare(file, text) {
  const isCurrent = text !== undefined && existsSync(file) && readFileSync(file, "utf8") === text;
  if (!isCurrent && !isUpdate) process.exitCode = 1;
  const verdict = isCurrent ? "current" : isUpdate ? "written" : "differs";
  process.stdout.write(`${verdict}  ${path.relative(root, file)}\n`);
  if (isCurrent || !isUpdate) return;
  mkdirSync(path.dirname(file), { recursive: true });
  if (text === undefined) rmSync(file);
  else writeFileSync(file, text);
}
