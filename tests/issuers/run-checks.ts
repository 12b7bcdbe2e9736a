import type { Check, Feature } from "./check.ts";
import type { RestartCheck } from "./checks/restart.ts";
import { expectedFailures } from "./expected-failures.ts";
import type { Issuer, KeycloakIssuer } from "./issuer.ts";
import { makeRealms } from "./keycloak/issuer.ts";
import { type World, openWorld } from "./world.ts";

/** Milliseconds for one check. */
const timeLimit = 120_000;

/** The outcome of one check. `notRun` is the reason why it could not run. */
export interface Result {
  readonly issuer: string;
  readonly name: string;
  readonly feature: Feature | undefined;
  readonly error?: unknown;
  readonly notRun?: string;
  readonly ms: number;
}

/** A check that cannot run here, with the reason. */
export interface MissingCheck extends Pick<Check, "name" | "feature"> {
  readonly notRun: string;
}

/** Runs checks one after another, and reports each. */
export async function runChecks<I extends Issuer>(
  issuer: I,
  checks: readonly (Check<I> | MissingCheck)[],
  root: string,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const check of checks) {
    const { name, feature } = check;
    const result = { issuer: issuer.name, name, feature };
    if ("notRun" in check) results.push({ ...result, notRun: check.notRun, ms: 0 });
    else {
      const world = openWorld(issuer, root);
      results.push({ ...result, ...(await measure(() => check.run(world), [world])) });
    }
    report(results.at(-1)!);
  }
  return results;
}

/**
 * Runs the checks of a restart: all sign in, Keycloak ends and starts with an empty database, and each check is completed. They
 * come last, because the clients and keys of the realm are new afterwards.
 */
export async function runRestart(
  issuer: KeycloakIssuer,
  selected: readonly RestartCheck[],
  root: string,
): Promise<Result[]> {
  if (selected.length === 0) return [];
  const started = [];
  for (const check of selected) {
    const world = openWorld(issuer, root);
    started.push({ check, world, prepared: await settle(check.prepare(world)) });
  }
  const { keycloak } = issuer;
  await keycloak.stop();
  const whileDown = [];
  for (const { prepared } of started) {
    whileDown.push(await measure(async () => unwrap(prepared).whileDown?.(), []));
  }
  await keycloak.start();
  // The new realm has the name of the old one. Its clients are registered with new keys.
  Object.assign(issuer, await makeRealms(keycloak));
  const results: Result[] = [];
  for (const [index, { check, world, prepared }] of started.entries()) {
    const { name, feature } = check;
    const before = whileDown[index]!;
    const after = "error" in before ? before : await measure(async () => unwrap(prepared).afterwards?.(), []);
    await end([world]);
    results.push({ issuer: issuer.name, name, feature, ...after });
    report(results.at(-1)!);
  }
  return results;
}

type Settled<T> = { value: T } | { error: unknown };

const settle = <T>(promise: Promise<T>): Promise<Settled<T>> =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

function unwrap<T>(settled: Settled<T>): T {
  if ("error" in settled) throw settled.error;
  return settled.value;
}

/** Runs a part of a check within the time limit, and ends its surroundings. */
async function measure(
  work: () => Promise<void> | void,
  worlds: readonly World[],
): Promise<Pick<Result, "error" | "ms">> {
  const start = Date.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The check takes more than ${timeLimit / 1_000} s.`)), timeLimit);
  });
  const settled = await settle(Promise.race([Promise.resolve(work()), late]));
  clearTimeout(timer);
  await end(worlds);
  return { ms: Date.now() - start, ...("error" in settled && { error: settled.error }) };
}

async function end(worlds: readonly World<any>[]): Promise<void> {
  for (const world of worlds) await world.close();
}

/** Whether a check is in the list of those that fail at present. */
export const isExpected = ({ issuer, name }: Result): boolean => expectedFailures[issuer]?.includes(name) ?? false;

function report(result: Result): void {
  const { issuer, name, ms, notRun } = result;
  const isFailed = "error" in result;
  const state = notRun === undefined ? (isFailed ? (isExpected(result) ? "known" : "FAIL") : "ok") : "not run";
  process.stdout.write(
    `${state.padEnd(8)}${String(ms).padStart(6)} ms  ${issuer}: ${name}${notRun ? `: ${notRun}` : ""}\n`,
  );
}
