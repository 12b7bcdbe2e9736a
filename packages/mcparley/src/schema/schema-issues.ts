import type { OutputUnit, Schema } from "@cfworker/json-schema";
import { describeFailure } from "./failure-messages.ts";
import type { PreparedSchema } from "./prepare-schema.ts";
import { MAX_ISSUES, pointerStep } from "./schema.ts";
import type { Issue } from "./schema.ts";
import { placeOf } from "./subschemas.ts";

/** Keywords that only pass on what went wrong below them. */
const relaying: ReadonlySet<string> = new Set(
  "$ref additionalItems additionalProperties allOf dependentSchemas if items patternProperties prefixItems properties unevaluatedItems unevaluatedProperties".split(
    " ",
  ),
);

interface Failure {
  readonly path: string;
  readonly keyword: string;
  readonly message: string;
  /** Reported by an `unevaluated...` keyword. */
  readonly unevaluated: boolean;
}

/**
 * Turns the validator's report into the few causes a reader can act on. The report lists every keyword on the way
 * down, parents before children; a keyword that merely contains the failing one says nothing of its own.
 */
export function toIssues(report: readonly OutputUnit[], schema: PreparedSchema): Issue[] {
  const failures = causes(report, schema);
  // When a property fails, the validator no longer counts it as evaluated and reports it a second time.
  const own = failures.filter((failure) => !failure.unevaluated);
  const issues = new Map<string, Issue>();
  for (const { path, message } of own.length > 0 ? own : failures) {
    if (issues.size === MAX_ISSUES) break;
    issues.set(`${path}\n${message}`, { path, message });
  }
  return [...issues.values()];
}

function causes(report: readonly OutputUnit[], schema: PreparedSchema): Failure[] {
  const found: Failure[] = [];
  for (let index = 0; index < report.length;) {
    const unit = report[index++] as OutputUnit;
    const end = endOfChildren(report, index, unit.keywordLocation);
    if ((unit.keyword === "anyOf" || unit.keyword === "oneOf") && end > index) {
      found.push(...unionCauses(unit, report.slice(index, end), schema));
      index = end;
    } else {
      const failure = toFailure(unit, schema);
      if (failure) found.push(failure);
    }
  }
  return found;
}

function endOfChildren(report: readonly OutputUnit[], start: number, location: string): number {
  const length = report.slice(start).findIndex((unit) => !unit.keywordLocation.startsWith(`${location}/`));
  return length < 0 ? report.length : start + length;
}

function toFailure(unit: OutputUnit, schema: PreparedSchema): Failure | undefined {
  const relays = relaying.has(unit.keyword) || (unit.keyword === "dependencies" && unit.error.includes(" match "));
  if (relays) return undefined;
  const { holder, way } = locate(unit.keywordLocation, schema);
  // What every item or name has against a schema that only some, or none, have to fit.
  if (way.has("contains") || way.has("propertyNames")) return undefined;
  return {
    path: toPointer(unit.instanceLocation),
    keyword: unit.keyword,
    message: describeFailure(unit, holder),
    unevaluated: way.has("unevaluatedItems") || way.has("unevaluatedProperties"),
  };
}

/** Of a union, reports the alternative that was most likely meant; of plain types and values, all that would do. */
function unionCauses(union: OutputUnit, children: readonly OutputUnit[], schema: PreparedSchema): Failure[] {
  const branches = [...groupByBranch(union, children).values()].map((branch) => causes(branch, schema));
  const path = toPointer(union.instanceLocation);
  const matched = /\((\d+) matches\)/.exec(union.error)?.[1] ?? "0";
  const failure = { path, keyword: union.keyword, unevaluated: false };
  if (matched !== "0") {
    return [{ ...failure, message: `must match exactly one of several alternatives, not ${matched}` }];
  }
  const missed = branches.map((branch) => branch.find((cause) => cause.path === path && isDecisive(cause)));
  if (missed.every((cause) => cause !== undefined)) {
    const choices = new Set(missed.map((cause) => cause.message.replace(/^must be /, "")));
    return [{ ...failure, message: `must be ${[...choices].slice(0, MAX_ISSUES).join(" or ")}` }];
  }
  return closest(branches, path);
}

function groupByBranch(union: OutputUnit, children: readonly OutputUnit[]): Map<string, OutputUnit[]> {
  const groups = new Map<string, OutputUnit[]>();
  for (const child of children) {
    const branch = child.keywordLocation.slice(union.keywordLocation.length + 1).split("/", 1)[0] as string;
    const group = groups.get(branch);
    if (group) group.push(child);
    else groups.set(branch, [child]);
  }
  return groups;
}

/** Another kind of value altogether, or another value of the property that tells the alternatives apart. */
function isDecisive({ keyword }: Failure): boolean {
  return keyword === "type" || keyword === "const" || keyword === "enum";
}

function closest(branches: readonly Failure[][], path: string): Failure[] {
  const distances = branches.map((branch) => branch.reduce((sum, cause) => sum + weight(cause, path), 0));
  return branches[distances.indexOf(Math.min(...distances))] ?? [];
}

function weight(cause: Failure, path: string): number {
  if (!isDecisive(cause)) return 1;
  if (cause.path === path) return 10_000;
  return cause.keyword === "type" ? 1 : 100;
}

/** Finds the schema that holds the failing keyword, and the keywords passed on the way there. */
function locate(location: string, { root, lookup }: PreparedSchema): { holder: Schema; way: Set<string> } {
  const steps = location.split("/").slice(1).map(decodeStep);
  const way = new Set<string>();
  let holder: unknown = root;
  for (let index = 0; index < steps.length - 1; index++) {
    const keyword = steps[index] as string;
    const value = (holder as Schema)[keyword];
    way.add(keyword);
    if (keyword === "$ref") holder = lookup[(holder as Schema).__absolute_ref__ as string];
    else if (placeOf(keyword, value) === "one") holder = value;
    else holder = (value as Record<string, unknown>)[steps[++index] as string];
  }
  return { holder: holder as Schema, way };
}

function toPointer(location: string): string {
  return location
    .split("/")
    .slice(1)
    .map((step) => pointerStep(decodeStep(step)))
    .join("");
}

function decodeStep(step: string): string {
  return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
}
