// @ts-check
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";

/** @import { Check, Leg } from "./types.ts" */

/** The time that the suite puts at the end of the name of each folder. */
const timestamp = /-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

/**
 * Reads the output folder of the suite: the checks of each scenario, and its client's stderr.
 *
 * @param {string} folder
 * @param {Leg} leg
 * @returns {Map<string, { checks: Check[], stderr: string }>}
 */
export function readChecks(folder, leg) {
  const found = new Map();
  if (!existsSync(folder)) return found;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => path.basename(name) === "checks.json")) {
    const place = path.dirname(file);
    const stderr = path.join(folder, place, "stderr.txt");
    found.set(scenarioOf(place, leg), {
      checks: JSON.parse(readFileSync(path.join(folder, file), "utf8")),
      stderr: existsSync(stderr) ? readFileSync(stderr, "utf8") : "",
    });
  }
  return found;
}

/** Names of scenarios may hold slashes, and then are folders in folders. @param {string} place @param {Leg} leg */
function scenarioOf(place, leg) {
  const name = place.split(path.sep).join("/").replace(timestamp, "");
  return leg === "server" ? name.replace(/^server-/, "") : name;
}
