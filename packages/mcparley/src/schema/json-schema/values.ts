import { formatCount } from "../schema.ts";
import type { Check, Compiler, Kind } from "./apply.ts";
import { ValueSet } from "./equality.ts";
import { formatSteps, formats } from "./formats.ts";
import type { CheckedSchema } from "./keywords.ts";
import { Run } from "./run.ts";

/** The compiler has verified the form of `value`, which differs from keyword to keyword. */
type Make = (value: any, schema: CheckedSchema, compiler: Compiler) => Check<any> | undefined;

/** The keywords that have no subschemas, with the kind of value that they apply to. */
export const valueKeywords: Readonly<Record<string, readonly [kind: Kind | "any", make: Make]>> = {
  enum: ["any", (values: unknown[]) => isOneOf("enum", values, `must be one of ${JSON.stringify(values)}`)],
  const: ["any", (value: unknown) => isOneOf("const", [value], `must be ${JSON.stringify(value)}`)],
  minimum: ["number", (limit: number, { exclusiveMinimum: exclusive }) => atLeast(limit, exclusive === true)],
  maximum: ["number", (limit: number, { exclusiveMaximum: exclusive }) => atMost(limit, exclusive === true)],
  exclusiveMinimum: ["number", (limit: unknown) => (typeof limit === "number" ? atLeast(limit, true) : undefined)],
  exclusiveMaximum: ["number", (limit: unknown) => (typeof limit === "number" ? atMost(limit, true) : undefined)],
  multipleOf: ["number", multipleOf],
  minLength: ["string", minLength],
  maxLength: ["string", maxLength],
  pattern: ["string", pattern],
  format: ["string", format],
};

function isOneOf(keyword: string, values: readonly unknown[], message: string): Check {
  const allowedValues = new ValueSet();
  const unlimitedRun = new Run(Infinity);
  for (const value of values) allowedValues.add(value, unlimitedRun);
  return (value, run) => allowedValues.has(value, run) || run.fail(keyword, message);
}

function atLeast(limit: number, isExclusive: boolean): Check<number> {
  if (isExclusive) return (value, run) => value > limit || run.fail("minimum", `must be greater than ${limit}`);
  return (value, run) => value >= limit || run.fail("minimum", `must be at least ${limit}`);
}

function atMost(limit: number, isExclusive: boolean): Check<number> {
  if (isExclusive) return (value, run) => value < limit || run.fail("maximum", `must be less than ${limit}`);
  return (value, run) => value <= limit || run.fail("maximum", `must be at most ${limit}`);
}

function multipleOf(divisor: number): Check<number> {
  const message = `must be a multiple of ${divisor}`;
  const decimal = toDecimal(divisor);
  return (value, run) => isMultiple(value, decimal, run) || run.fail("multipleOf", message);
}

/** A number as it was written: `digits` divided by 10 to the power of `places`. */
interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

function toDecimal(value: number): Decimal {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [integerPart = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(integerPart + fraction), places: fraction.length - Number(exponent) };
}

/** Compares as decimal fractions: in binary, 0.0075 is no multiple of 0.0001. */
function isMultiple(value: number, divisor: Decimal, run: Run): boolean {
  const scale = 10 ** divisor.places;
  const scaledValue = Math.round(value * scale);
  if (divisor.places >= 0 && divisor.places <= 22 && Number.isSafeInteger(scaledValue)) {
    // Division rounds correctly, so this is false exactly if the value has more decimal places than the divisor.
    return scaledValue / scale === value && scaledValue % Number(divisor.digits) === 0;
  }
  // Rare: a large number, or a very small divisor.
  run.take(50);
  const { digits, places } = toDecimal(value);
  const most = Math.max(places, divisor.places);
  return (digits * 10n ** BigInt(most - places)) % (divisor.digits * 10n ** BigInt(most - divisor.places)) === 0n;
}

function minLength(limit: number): Check<string> {
  const message = `must have at least ${formatCount(limit, "character", "characters")}`;
  return (value, run) =>
    (value.length >= limit && (value.length >= 2 * limit || countCharacters(value, run) >= limit)) ||
    run.fail("minLength", message);
}

function maxLength(limit: number): Check<string> {
  const message = `must have at most ${formatCount(limit, "character", "characters")}`;
  return (value, run) =>
    value.length <= limit ||
    (value.length <= 2 * limit && countCharacters(value, run) <= limit) ||
    run.fail("maxLength", message);
}

/** Counts code points, as JSON Schema does. A pair of surrogates is one. */
function countCharacters(text: string, run: Run): number {
  run.take(text.length >> 4);
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    if (text.codePointAt(index)! > 0xff_ff) {
      index++;
      count--;
    }
  }
  return count;
}

function pattern(source: string, _: CheckedSchema, { patterns }: Compiler): Check<string> {
  const regExp = patterns(source);
  const message = `must match the pattern ${source}`;
  return (value, run) => {
    if (!regExp) return run.skip();
    run.take(regExp.cost(value));
    return regExp.test(value) || run.fail("pattern", message);
  };
}

function format(name: string, _: CheckedSchema, { assertsFormat }: Compiler): Check<string> | undefined {
  const isValid = assertsFormat && Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (!isValid) return undefined;
  const message = `must be a valid ${name}`;
  const stepsPerCharacter = Object.hasOwn(formatSteps, name) ? formatSteps[name]! : 1 / 8;
  return (value, run) => {
    run.take(1 + stepsPerCharacter * value.length);
    return isValid(value) || run.fail("format", message);
  };
}
