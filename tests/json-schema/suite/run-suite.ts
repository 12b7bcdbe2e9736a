import type { JsonSchema } from "../../../packages/mcparley/src/schema/schema.ts";
import { compileJsonSchema } from "../../support/compile-json-schema.ts";
import { type Dialect, dialects } from "../dialects.ts";
import { readMetaSchemas } from "../meta-schemas.ts";
import { type Group, readGroups, readRemotes } from "./cases.ts";
import { assertsFormat } from "./plan.ts";

/** Cases that the library does not pass, with the reason. An omitted field matches every case. */
interface Exclusion {
  reason: string;
  dialects: readonly Dialect[];
  file: string;
  description?: string;
  test?: string;
}

interface Case {
  dialect: Dialect;
  file: string;
  description: string;
  test: string;
  isRequired: boolean;
  /** Returns the difference from the suite's verdict. Undefined if the case passes. */
  difference: string | undefined;
  exclusion: Exclusion | undefined;
}

/** Runs the suite, prints a report, and returns whether every required case passes and every exclusion is needed. */
export function runSuite(suite: string, exclusions: readonly Exclusion[], only: readonly string[] = []): boolean {
  const all = dialects.flatMap((dialect) => runDialect(suite, dialect, exclusions));
  const cases = all.filter(
    (one) => only.length === 0 || only.some((part) => `${one.dialect}/${one.file}`.includes(part)),
  );
  const required = cases.filter(({ isRequired }) => isRequired);
  const failed = required.filter(({ difference, exclusion }) => difference !== undefined && !exclusion);
  const stale = required.filter(({ difference, exclusion }) => difference === undefined && exclusion);
  const unused = exclusions.filter((exclusion) => !all.some((one) => one.isRequired && one.exclusion === exclusion));

  for (const one of failed) print(`failed: ${nameOf(one)}: ${one.difference}`);
  for (const one of stale) print(`stale exclusion, the case passes: ${nameOf(one)}`);
  for (const { file, description } of unused)
    print(`stale exclusion, no case matches: ${file} / ${description ?? "*"}`);
  printInformational(cases);
  print("");
  for (const dialect of dialects)
    print(`${dialect.padEnd(14)} ${countsOf(required.filter((one) => one.dialect === dialect))}`);
  print(countsOf(required));
  return failed.length + stale.length + unused.length === 0;
}

function runDialect(suite: string, dialect: Dialect, exclusions: readonly Exclusion[]): Case[] {
  const documents = new Map<string, JsonSchema | boolean>([...readMetaSchemas(), ...readRemotes(suite, dialect)]);
  return readGroups(suite, dialect).flatMap((group) => {
    const verdict = compileGroup(group, documents);
    return group.tests.map(({ description: test, data, valid }) => {
      const { file, description, level } = group;
      const found = { dialect, file, description, test, isRequired: level === "required" };
      const difference = compare(valid, verdict(data));
      return { ...found, difference, exclusion: exclusions.find((one) => matches(one, found)) };
    });
  });
}

type Verdict = boolean | Error;

/** Returns a function that validates a value. It returns the error if the schema does not compile or validation throws. */
function compileGroup(
  { schema, file }: Group,
  documents: ReadonlyMap<string, JsonSchema | boolean>,
): (value: unknown) => Verdict {
  try {
    const validate = compileJsonSchema(schema, { format: assertsFormat(file) ? "assert" : "annotate", documents });
    return (value) => {
      try {
        return validate(value).issues === undefined;
      } catch (error) {
        return error as Error;
      }
    };
  } catch (error) {
    return () => error as Error;
  }
}

function compare(expected: boolean, found: Verdict): string | undefined {
  if (found === expected) return undefined;
  const name = (valid: boolean): string => (valid ? "valid" : "invalid");
  return `expected ${name(expected)}, found ${found instanceof Error ? String(found) : name(found)}`;
}

function matches(
  exclusion: Exclusion,
  { dialect, file, description, test }: Omit<Case, "difference" | "exclusion">,
): boolean {
  return (
    exclusion.dialects.includes(dialect) &&
    exclusion.file === file &&
    (exclusion.description ?? description) === description &&
    (exclusion.test ?? test) === test
  );
}

function printInformational(cases: readonly Case[]): void {
  const files = new Map<string, Case[]>();
  for (const one of cases.filter(({ isRequired }) => !isRequired)) {
    const name = `${one.dialect}/${one.file}`;
    files.set(name, [...(files.get(name) ?? []), one]);
  }
  if (files.size > 0) print("\nOptional cases that are not required (passed / all):");
  for (const [name, group] of files) {
    const passed = group.filter(({ difference }) => difference === undefined).length;
    print(`  ${name}: ${passed} / ${group.length}`);
  }
}

/** Stale exclusions count as failed. */
function countsOf(cases: readonly Case[]): string {
  const passed = cases.filter(({ difference, exclusion }) => difference === undefined && !exclusion).length;
  const skipped = cases.filter(({ difference, exclusion }) => difference !== undefined && exclusion).length;
  return `${passed} passed, ${cases.length - passed - skipped} failed, ${skipped} skipped`;
}

function nameOf({ dialect, file, description, test }: Case): string {
  return `${dialect}/${file} / ${description} / ${test}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
