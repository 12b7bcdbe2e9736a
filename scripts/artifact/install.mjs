// @ts-check
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { npm } from "../npm.mjs";
import { root } from "../ready.mjs";

/** @typedef {import("./checks.mjs").Checks} Checks */

/** Makes an empty project and installs packages into it. @param {string} folder @param {readonly string[]} specifiers */
export function installInto(folder, specifiers) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  npm(["install", "--no-audit", "--no-fund", ...specifiers], { cwd: folder, quiet: true });
}

/**
 * Returns the number of packages in a project and the size of their files in bytes.
 *
 * @param {string} folder
 */
export function measureInstalled(folder) {
  const lock = JSON.parse(readFileSync(path.join(folder, "node_modules/.package-lock.json"), "utf8"));
  const installed = Object.keys(lock.packages).filter((name) => existsSync(path.join(folder, name)));
  const modules = path.join(folder, "node_modules");
  const files = readdirSync(modules, { recursive: true, encoding: "utf8" }).map((file) => path.join(modules, file));
  const sizes = files.map((file) => statSync(file)).map((found) => (found.isFile() ? found.size : 0));
  return { packages: installed.length, bytes: sizes.reduce((total, size) => total + size, 0) };
}

/**
 * The budget of an installed package, from `tests/artifact/budgets.json`: the number of packages, itself included, and their
 * size in MiB.
 *
 * @param {string} name
 * @returns {{ packages: number; mebibytes: number }}
 */
export function budgetOf(name) {
  const budgets = JSON.parse(readFileSync(path.join(root, "tests/artifact/budgets.json"), "utf8"));
  return budgets[name] ?? budgets.default;
}

/** @param {string} name @param {string} folder a project with this package alone @param {Checks} checks */
export function checkBudget(name, folder, checks) {
  const { packages, bytes } = measureInstalled(folder);
  const budget = budgetOf(name);
  const mebibytes = (bytes / 2 ** 20).toFixed(1);
  const found = `${packages} of ${budget.packages} packages, ${mebibytes} of ${budget.mebibytes} MiB`;
  checks.check(
    `${name} is installed within its budget: ${found}`,
    packages <= budget.packages && bytes <= budget.mebibytes * 2 ** 20,
  );
}
