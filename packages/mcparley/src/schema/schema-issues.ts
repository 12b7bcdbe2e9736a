import type { OutputUnit } from "@cfworker/json-schema";
import { MAX_ISSUES, shorten } from "./schema.ts";
import type { Issue, Outcome } from "./schema.ts";

/** What is wrong with a value, of a report or of the reason why there is none. */
export function toOutcome(report: readonly OutputUnit[] | Error): Outcome {
  if (report instanceof Error)
    return { issues: [{ path: "", message: `Cannot be checked. ${shorten(report.message)}` }] };
  return { issues: toIssues(report) };
}

/**
 * Turns the validator's report into the few causes a reader can act on. The report lists every keyword on the way
 * down, parents before children; a keyword that merely contains the failing one says nothing of its own.
 */
export function toIssues(report: readonly OutputUnit[]): Issue[] {
  const found = causes(report);
  // What an `if` brings about stands beside it. And when a property fails, the validator no longer counts it as
  // evaluated and reports it a second time.
  const own = found.filter((unit) => !/\/(if$|unevaluated)/.test(unit.keywordLocation));
  const issues = new Map<string, Issue>();
  for (const unit of own.length > 0 ? own : found) {
    const issue = { path: decodeURIComponent(unit.instanceLocation.slice(1)), message: describe(unit) };
    if (issues.size < MAX_ISSUES) issues.set(issue.path + issue.message, issue);
  }
  return [...issues.values()];
}

function causes(report: readonly OutputUnit[]): OutputUnit[] {
  const found: OutputUnit[] = [];
  for (let index = 0; index < report.length;) {
    const unit = report[index++]!;
    const below: OutputUnit[] = [];
    while (report[index]?.keywordLocation.startsWith(`${unit.keywordLocation}/`)) below.push(report[index++]!);
    if (/^(any|one)Of$/.test(unit.keyword)) found.push(...unionCauses(unit, below));
    // What every item or name has against a schema that only some, or none, have to fit, would be no help.
    else if (below.length === 0 || /^(contains|propertyNames)$/.test(unit.keyword)) found.push(unit);
    else found.push(...causes(below));
  }
  return found;
}

/** Of a union, reports the alternatives of the right type and with the right tags, where there are any. */
function unionCauses(union: OutputUnit, below: readonly OutputUnit[]): OutputUnit[] {
  const branchOf = (unit: OutputUnit): string | undefined =>
    unit.keywordLocation.slice(union.keywordLocation.length).split("/")[1];
  // Where several alternatives matched, what is wrong with the others does not matter.
  const all = /\([1-9]/.test(union.error) ? [] : causes(below);
  const missed = new Set(all.filter((unit) => isDecisive(unit, union)).map(branchOf));
  const close = all.filter((unit) => !missed.has(branchOf(unit)));
  return [union, ...(close.length > 0 ? close : all)];
}

/** Another kind of value altogether, or another value of the property that tells the alternatives apart. */
function isDecisive({ keyword, instanceLocation }: OutputUnit, union: OutputUnit): boolean {
  return keyword === "type" ? instanceLocation === union.instanceLocation : /^(const|enum)$/.test(keyword);
}

/** Where the validator's sentence says something else than it checks. */
const corrections: Readonly<Record<string, readonly [wrong: string, right: string]>> = {
  exclusiveMinimum: ["less", "not greater"],
  maxProperties: ["least", "most"],
};

/** The validator's own sentence, without the number it may begin with, since a value may be a secret. */
function describe({ keyword, error }: OutputUnit): string {
  const [wrong = "", right = ""] = corrections[keyword] ?? [];
  const text = error.replace(/^-?\d\S*/, "Number").replace(wrong, right);
  return shorten(text, keyword === "propertyNames" ? 80 : 300);
}
