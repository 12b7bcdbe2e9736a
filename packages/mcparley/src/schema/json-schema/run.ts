import { type ValidationIssue, MAX_ISSUES, pointerStep, shorten } from "../schema.ts";
import type { Resource } from "./document.ts";

/** Thrown by a validation that takes too many steps or is nested too deeply. The value is then not accepted. */
export class TooComplex extends Error {}

/** Maximum depth of schemas that are applied within each other. Values have at most 64 levels; a `$ref` can be endless. */
const MAX_DEPTH = 1_024;

/** Number of properties from which the keys of an object are kept until the end of a validation. */
const MANY_KEYS = 1_000;

/** An issue, and the keyword that reports it. The keyword decides which alternatives of a union are close to the value. */
export interface Finding extends ValidationIssue {
  readonly keyword: string;
}

/** The resources that lead to the current subschema, the innermost first. */
interface Scope {
  readonly resource: Resource;
  readonly outer: Scope | undefined;
}

/**
 * The state of one validation.
 *
 * The first pass only decides, and stops at the first failure. If it fails, a second pass runs with `findings`, to which
 * every keyword adds its issues.
 */
export class Run {
  scope: Scope | undefined;
  /** The issues so far. Undefined in the first pass, which reports none. */
  findings: Finding[] | undefined;
  /** Number of skipped checks: patterns of a peer that cannot be evaluated. */
  uncheckedCount = 0;
  #remainingSteps: number;
  #depth = 0;
  readonly #path: string[] = [];
  /** The keys of large objects. */
  #keys: Map<object, readonly string[]> | undefined;

  constructor(steps: number) {
    this.#remainingSteps = steps;
  }

  /** Takes steps from the budget. Throws TooComplex if fewer are left. */
  take(steps: number): void {
    if ((this.#remainingSteps -= steps) < 0) throw new TooComplex();
  }

  /**
   * Returns the keys of an object. V8 takes 20 ms for 100,000 of them, so they are listed once for all keywords and
   * alternatives.
   */
  keysOf(value: object): readonly string[] {
    const knownKey = this.#keys?.get(value);
    if (knownKey) return knownKey;
    const keys = Object.keys(value);
    if (keys.length >= MANY_KEYS) (this.#keys ??= new Map()).set(value, keys);
    return keys;
  }

  enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new TooComplex();
  }

  leave(): void {
    this.#depth--;
  }

  /** Runs a check of the property or item `key`. */
  checkAt(key: string | number, check: () => boolean): boolean {
    this.#path.push(pointerStep(shorten(String(key))));
    const fits = check();
    this.#path.pop();
    return fits;
  }

  get path(): string {
    return this.#path.join("");
  }

  /** Whether the maximum number of issues is reached. */
  get isFull(): boolean {
    return this.findings !== undefined && this.findings.length >= MAX_ISSUES;
  }

  /** Adds an issue in the second pass. Always returns false. */
  fail(keyword: string, message: string): false {
    if (this.findings) this.add({ keyword, path: this.path, message: shorten(message, 300) });
    return false;
  }

  /** Adds an issue, unless it is present already or the maximum is reached. */
  add(finding: Finding): void {
    const { findings = [] } = this;
    if (findings.some(({ path, message }) => path === finding.path && message === finding.message)) return;
    if (!this.isFull) findings.push(finding);
  }

  /** Skips a check that cannot be made. Always returns true. */
  skip(): true {
    this.uncheckedCount++;
    return true;
  }

  /** Runs a check with a separate list of findings, or with none. */
  isolate(findings: Finding[] | undefined, check: () => boolean): boolean {
    const outer = this.findings;
    this.findings = findings;
    const fits = check();
    this.findings = outer;
    return fits;
  }
}

/** Returns whether all items fit. The first pass stops at the first failure. */
export function every<T>(items: Iterable<T>, run: Run, check: (item: T) => boolean): boolean {
  let fits = true;
  for (const item of items) {
    if (check(item)) continue;
    if (!run.findings || run.isFull) return false;
    fits = false;
  }
  return fits;
}

/**
 * The properties and items of one object or array that keywords have evaluated, for `unevaluatedProperties` and
 * `unevaluatedItems`.
 */
export class Evaluated {
  readonly #keys = new Set<string | number>();
  #isAll = false;
  /** The number of items at the start that were evaluated. */
  #items = 0;

  has(key: string | number): boolean {
    return this.#isAll || this.#keys.has(key) || (typeof key === "number" && key < this.#items);
  }

  add(key: string | number): void {
    this.#keys.add(key);
  }

  addItems(count: number): void {
    this.#items = Math.max(this.#items, count);
  }

  addAll(): void {
    this.#isAll = true;
  }

  addFrom(source: Evaluated, run: Run): void {
    run.take(source.#keys.size);
    for (const key of source.#keys) this.#keys.add(key);
    this.addItems(source.#items);
    this.#isAll ||= source.#isAll;
  }
}
