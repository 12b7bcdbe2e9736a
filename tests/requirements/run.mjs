// @ts-check
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { load } from "../support/runner.mjs";

/** @typedef {import("./requirement.ts").Requirement} Requirement */

/** The ids that the proofs name; `coverage.test.ts` checks the same by running their modules. */
function scan() {
  const proofs = path.join(import.meta.dirname, "proofs");
  const files = readdirSync(proofs).filter((name) => name.endsWith(".test.ts"));
  const texts = files.map((name) => readFileSync(path.join(proofs, name), "utf8"));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/^proves(?:InCommand)?\(\s*"([^"]+)"/gm)].map(([, id]) => id)),
  );
}

/** @type {typeof import("./data/all.ts")} */
const { requirements } = await load("tests/requirements/data/all.ts");
/** @type {typeof import("./requirement.ts")} */
const { versions, versionsOf } = await load("tests/requirements/requirement.ts");
const proven = scan();
const state = (/** @type {Requirement} */ { id, excuse }) =>
  proven.has(id) ? "proven" : excuse === undefined ? "missing" : "excused";

/** @param {string} label @param {readonly Requirement[]} ones */
function row(label, ones) {
  const count = (/** @type {string} */ name) => String(ones.filter((one) => state(one) === name).length).padStart(8);
  console.log(`${label.padEnd(64)}${count("proven")}${count("excused")}${count("missing")}`);
}

const heading = `${"".padEnd(64)}  proven excused missing`;
const pageOf = (/** @type {Requirement} */ { section }) => section.split("#")[0] ?? section;
console.log("By revision: a requirement counts in each revision that asks for it.\n");
console.log(heading);
for (const version of versions) {
  row(
    version,
    requirements.filter((one) => versionsOf(one).includes(version)),
  );
}
console.log(`\nBy the page that says it.\n\n${heading}`);
for (const page of [...new Set(requirements.map(pageOf))].toSorted()) {
  row(
    page,
    requirements.filter((one) => pageOf(one) === page),
  );
}
console.log("");
row("all", requirements);

const missing = requirements.filter((one) => state(one) === "missing");
for (const { id, level, says } of missing) console.log(`\nmissing  ${id} (${level}): ${says}`);
if (process.argv.includes("--excused")) {
  for (const one of requirements.filter((each) => state(each) === "excused")) {
    console.log(`\nexcused  ${one.id} (${one.level}): ${one.says}\n         ${one.excuse}`);
  }
}
process.exitCode = missing.length === 0 ? 0 : 1;
