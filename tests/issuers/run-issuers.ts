import path from "node:path";
import type { Check } from "./check.ts";
import { keycloakChecks, providerChecks } from "./checks/index.ts";
import { fastmcpPeers } from "./checks/peers.ts";
import { restart } from "./checks/restart.ts";
import { expectedFailures } from "./expected-failures.ts";
import type { KeycloakIssuer } from "./issuer.ts";
import { installKeycloak } from "./keycloak/install.ts";
import { startKeycloakIssuer } from "./keycloak/issuer.ts";
import { startProviderIssuer } from "./provider.ts";
import { type MissingCheck, type Result, isExpected, runChecks, runRestart } from "./run-checks.ts";
import { isWritten, tableOf, writeTable } from "./table.ts";

interface RunOptions {
  /** The root folder of the repository. */
  readonly root: string;
  /** The Python with FastMCP, or the reason why it is unavailable. */
  readonly python: { readonly program: string } | { readonly reason: string };
  /** Parts of the names of checks. Empty for all checks. */
  readonly only: readonly string[];
  /** Whether to write the table. */
  readonly isUpdate: boolean;
}

/** Runs the checks of all issuers and prints the results. Returns the exit code. */
export async function runIssuers({ root, python, only, isUpdate }: RunOptions): Promise<number> {
  const isSelected = (name: string): boolean => only.length === 0 || only.some((part) => name.includes(part));
  const results = [...(await runKeycloak({ root, python, isSelected })), ...(await runProvider(root, isSelected))];
  printFailures(results);
  const isWhole = only.length === 0;
  const stale = isWhole ? unknownNames(results) : [];
  for (const name of stale) print(`expected-failures.ts names "${name}", and there is no such check.`);
  const isTableRight = !isWhole || checkTable(root, results, isUpdate);
  const failed = results.filter(isWrong).length;
  const known =
    results.filter((result) => "error" in result).length - results.filter((r) => "error" in r && isWrong(r)).length;
  const notRun = results.filter((result) => result.notRun !== undefined).length;
  const passed = results.length - failed - known - notRun;
  print(`${results.length} checks: ${passed} passed, ${failed} failed, ${known} known failures, ${notRun} not run.`);
  return failed === 0 && stale.length === 0 && isTableRight ? 0 : 1;
}

interface KeycloakRun extends Pick<RunOptions, "root" | "python"> {
  isSelected: (name: string) => boolean;
}

async function runKeycloak({ root, python, isSelected }: KeycloakRun): Promise<Result[]> {
  const fastmcp: readonly (Check<KeycloakIssuer> | MissingCheck)[] =
    "program" in python
      ? fastmcpPeers(python.program)
      : fastmcpPeers("").map(({ name, feature }) => ({ name, feature, notRun: python.reason }));
  const checks = [...keycloakChecks, ...fastmcp].filter(({ name }) => isSelected(name));
  const selectedRestart = restart.filter(({ name }) => isSelected(name));
  if (checks.length + selectedRestart.length === 0) return [];
  const distribution = installKeycloak(path.join(root, ".tools/keycloak"));
  if ("reason" in distribution) {
    print(`not run: Keycloak: ${distribution.reason}`);
    const missing = { issuer: "Keycloak", notRun: distribution.reason, ms: 0 };
    return [...checks, ...selectedRestart].map(({ name, feature }) => ({ ...missing, name, feature }));
  }
  const issuer = await startKeycloakIssuer(distribution.folder);
  try {
    return [...(await runChecks(issuer, checks, root)), ...(await runRestart(issuer, selectedRestart, root))];
  } finally {
    await issuer.keycloak.close();
  }
}

async function runProvider(root: string, isSelected: (name: string) => boolean): Promise<Result[]> {
  const checks = providerChecks.filter(({ name }) => isSelected(name));
  if (checks.length === 0) return [];
  const issuer = await startProviderIssuer();
  try {
    return await runChecks(issuer, checks, root);
  } finally {
    await issuer.close();
  }
}

/** Whether a check has failed without being expected to, or has passed although it is in the list. */
const isWrong = (result: Result): boolean => result.notRun === undefined && "error" in result !== isExpected(result);

function printFailures(results: readonly Result[]): void {
  for (const result of results.filter(isWrong)) {
    const { issuer, name, error } = result;
    if ("error" in result) print(`\nFAIL ${issuer}: ${name}\n${error instanceof Error ? error.stack : String(error)}`);
    else print(`\n${issuer}: "${name}" passes: remove it from tests/issuers/expected-failures.ts.`);
  }
}

/** Returns the expected failures that no check has. */
function unknownNames(results: readonly Result[]): string[] {
  return Object.entries(expectedFailures).flatMap(([issuer, names]) =>
    names.filter((name) => !results.some((result) => result.issuer === issuer && result.name === name)),
  );
}

/** Compares the table with the page, or writes it. A run in which checks are missing does neither. */
function checkTable(root: string, results: readonly Result[], isUpdate: boolean): boolean {
  if (results.some(({ notRun }) => notRun !== undefined)) return true;
  const table = tableOf(results);
  if (isUpdate) writeTable(root, table);
  else if (!isWritten(root, table)) {
    print(`\ndocs/reference/issuers.md has another table. Run \`npm run check -- keycloak --update\`.\n\n${table}\n`);
    return false;
  }
  return true;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
