import { redact } from "mcparley";
import { type TextMember, mapTexts } from "../values/map-texts.ts";
import type { WithoutSecrets } from "../values/types.ts";
import type { SecretPattern } from "./secret-pattern.ts";
import { isDiscriminator, isStructureName } from "./structure-words.ts";

/** Maximum number of errors in a chain. */
const MAX_ERRORS = 9;

/** The parts of texts and values that are of the host, and are never changed. */
export interface OwnParts {
  /** Returns whether a text is the name of a server, or of a tool for the model. */
  readonly isName: (this: void, text: string) => boolean;
  /** Matches the parts of texts. It has one group, which is the whole match. */
  readonly texts: RegExp;
}

/** The secrets to remove. A pattern is undefined while no secret is known. */
export interface FilterPatterns {
  /** Matches the secrets in texts. */
  readonly text?: SecretPattern | undefined;
  /** Matches the random secrets, in names of members. Schemas and programs rely on a name, and no name that they use is random. */
  readonly name?: SecretPattern | undefined;
}

/** The types of objects that have the id of a call. */
const callTypes: ReadonlySet<unknown> = new Set(["tool-call", "tool-result", "call", "activity", "result"]);

/** Returns a function that removes secrets from the texts, names and errors of a value. */
export function createFilter({ isName, texts }: OwnParts, patternsNow: () => FilterPatterns): WithoutSecrets {
  const text = (value: string): string => {
    const pattern = patternsNow().text;
    if (!pattern) return value;
    const redaction = pattern.removeFrom(value);
    if (redaction === value || !texts.test(value)) return redaction;
    const parts = value.split(texts);
    return parts.map((part, index) => (index % 2 === 0 ? pattern.removeFrom(part) : part)).join("");
  };
  const nameOf = (name: string): string => patternsNow().name?.removeFrom(name) ?? name;
  const memberOf = (value: string, { name, parent }: TextMember): string => {
    const redaction = text(value);
    if (redaction === value) return value;
    // A secret can be a word of the structure, which is public. Its replacement would make a value invalid.
    const isKept =
      (isDiscriminator(name) && (isStructureName(value) || isName(value))) ||
      (name === "callId" && callTypes.has(parent.type));
    return isKept ? value : redaction;
  };
  /** Errors contain other errors as causes and members. Those below the maximum are left out. */
  const filterOf = (levels: number): WithoutSecrets => {
    const instance = (value: object): unknown => {
      if (value instanceof URL) return urlWithoutSecrets(value, text);
      if (!(value instanceof Error)) return value;
      return levels === 0 ? undefined : errorWithoutSecrets(value, filterOf(levels - 1));
    };
    return (value) => mapTexts(value, { text, name: nameOf, member: memberOf, instance });
  };
  return filterOf(MAX_ERRORS);
}

/** Returns the URL, or its text without secrets, which need not be a URL. */
function urlWithoutSecrets(url: URL, withoutSecrets: (text: string) => string): URL | string {
  const redaction = withoutSecrets(url.href);
  return redaction === url.href ? url : redaction;
}

/**
 * Returns the error, or one of the same class without the secrets: in its message, its stack, its members and its causes.
 *
 * The returned error has the members of the original that are JSON or errors.
 */
function errorWithoutSecrets(error: Error, withoutSecrets: WithoutSecrets): Error {
  const message = withoutSecrets(redact(error.message));
  // The stack starts with the message.
  const stack = error.stack && withoutSecrets(error.stack.replaceAll(error.message, () => message));
  const original = membersOf(error);
  const members = withoutSecrets(original);
  const cause = withoutSecrets(error.cause);
  if (message === error.message && stack === error.stack && members === original && cause === error.cause) return error;
  const { name } = error;
  // The getters of a `DOMException` throw for other objects.
  const copy = error instanceof DOMException ? new DOMException(message, name) : new Error(message);
  for (const [member, value] of Object.entries({ ...members, name, stack, cause })) {
    if (value !== undefined) Object.defineProperty(copy, member, { value, writable: true, configurable: true });
  }
  // Callers distinguish errors by their class.
  return Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object) as Error;
}

/** Returns the members of an error besides those that every error has. Those of an `AggregateError` are not enumerable. */
function membersOf(error: Error): Record<string, unknown> {
  const names = Object.getOwnPropertyNames(error).filter((name) => !standardMembers.has(name));
  return Object.fromEntries(names.map((name) => [name, (error as unknown as Record<string, unknown>)[name]]));
}

const standardMembers: ReadonlySet<string> = new Set(["message", "stack", "cause", "name"]);
