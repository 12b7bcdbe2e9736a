import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Feature } from "./check.ts";
import type { Result } from "./run-checks.ts";

const start = "<!-- Written by `npm run check -- keycloak --update`. -->";
const end = "<!-- End of the written part. -->";

/** The cells without a check, with the reason. */
const withoutCheck: Readonly<Record<Feature, Readonly<Record<string, string>>>> = {
  "resource indicators": { Keycloak: "no; [a mapper](../auth/keycloak.md#make-the-realm) adds the audience" },
};

/** Returns the table of features and issuers, with one line for each feature in the order of the checks. */
export function tableOf(results: readonly Result[]): string {
  const issuers = [...new Set(results.map(({ issuer }) => issuer))];
  const features = [...new Set(results.flatMap(({ feature }) => feature ?? []))];
  const lines = features.map((feature) => [
    feature.charAt(0).toUpperCase() + feature.slice(1),
    ...issuers.map((issuer) => cellOf(feature, issuer, results)),
  ]);
  const rows = [["Feature", ...issuers], ["---", ...issuers.map(() => "---")], ...lines];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function cellOf(feature: Feature, issuer: string, results: readonly Result[]): string {
  const checks = results.filter((result) => result.feature === feature && result.issuer === issuer);
  if (checks.length === 0) return withoutCheck[feature]?.[issuer] ?? "";
  const worked = checks.filter((result) => !("error" in result) && result.notRun === undefined);
  return worked.length === checks.length ? "yes" : worked.length === 0 ? "no" : "in part";
}

/** Returns whether the page has this table, written as the formatter of the repository aligns it. */
export function isWritten(root: string, table: string): boolean {
  const written = partsOf(root).written.trim();
  const plain = (text: string): string => text.replaceAll(/ *\| */g, "|").replaceAll(/-+/g, "-");
  return plain(written) === plain(table);
}

/** Writes the table into the page. */
export function writeTable(root: string, table: string): void {
  const { before, after } = partsOf(root);
  writeFileSync(pageOf(root), `${before}${start}\n\n${table}\n\n${end}${after}`);
}

const pageOf = (root: string): string => path.join(root, "docs/reference/issuers.md");

function partsOf(root: string): { before: string; written: string; after: string } {
  const [before, rest] = readFileSync(pageOf(root), "utf8").split(start);
  const [written, after] = rest?.split(end) ?? [];
  if (before === undefined || written === undefined || after === undefined) {
    throw new Error(`docs/reference/issuers.md has no "${start}" and "${end}".`);
  }
  return { before, written, after };
}
