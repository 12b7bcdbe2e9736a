import type { HttpAuth } from "mcparley/client";
import type { CredentialStorage } from "mcparley/node";
import { redact } from "mcparley";
import type { LanguageModel, ModelSetting } from "../model/language-model.ts";
import { type TextMember, mapTexts } from "../values/map-texts.ts";
import type { ServerTarget, SecretFilter, WithoutSecrets } from "../values/types.ts";
import { secretForms } from "./secret-forms.ts";
import { SecretPattern } from "./secret-pattern.ts";
import { credentialsIn, secretName, secretsOf } from "./secrets-of-target.ts";
import { isDiscriminator, isStructureName } from "./structure-words.ts";

/** Minimum length of a secret. Shorter values occur inside other words. */
const MIN_LENGTH = 6;

/** Maximum number of forms of changing secrets. The oldest ones are dropped for new ones, for example for a rotated token. */
const MAX_FORMS = 1_000;

/** Maximum number of errors in a chain. */
const MAX_ERRORS = 9;

/** The secrets of a host's configuration, and a filter that removes them from values. */
export interface KnownSecrets extends SecretFilter {
  /**
   * Adds a secret that can change, such as a token. Also its base64, its percent-encoded form and its form in JSON are removed from
   * texts. The oldest ones are forgotten for new ones.
   */
  add(this: void, secret: string): void;
  /** Adds the secrets in the settings of a server: of its environment, headers and URL. */
  addFrom(this: void, target: ServerTarget): void;
  /** Adds the credentials that the providers of models send in their headers, as far as they show them. */
  addModels(this: void, models: ModelSetting): void;
  /** Returns a list of JSON, whose depth was checked, without secrets. A long list is not read while no secret is known. */
  listWithoutSecrets<T extends readonly object[]>(this: void, list: T): T;
  /** Returns a storage of credentials that adds the tokens and client secrets which are read and written. */
  watchStorage(this: void, storage: CredentialStorage): CredentialStorage;
  /** Returns an authorization that adds the credentials of each request. */
  watchAuth(this: void, auth: HttpAuth): HttpAuth;
}

/** The parts of texts and values that are of the host, and are never changed. */
export interface OwnParts {
  /** Returns whether a text is the name of a server, or of a tool for the model. */
  readonly isName: (this: void, text: string) => boolean;
  /** Matches the parts of texts. It has one group, which is the whole match. */
  readonly texts: RegExp;
}

const noOwnParts: OwnParts = { isName: () => false, texts: /(?!)()/ };

/** The types of objects that have the id of a call. */
const callTypes: ReadonlySet<unknown> = new Set(["tool-call", "tool-result", "call", "activity", "result"]);

/** Creates an empty set of known secrets. */
export function knownSecrets({ isName, texts }: OwnParts = noOwnParts): KnownSecrets {
  /** The forms of each secret. The one that was seen last is last. */
  const configuredForms = new Map<string, readonly string[]>();
  const changing = new Map<string, readonly string[]>();
  /** Matches each form. It is made with the first text after a new secret. */
  let pattern: SecretPattern | undefined;
  const remember = (secret: string, secrets: Map<string, readonly string[]>): void => {
    const value = secret.trim();
    if (value.length < MIN_LENGTH) return;
    const knownForms = secrets.get(value);
    secrets.delete(value);
    secrets.set(value, knownForms ?? secretForms(value));
    // Each request with a token comes here.
    if (knownForms) return;
    let forms = [...changing.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest, { length }] of changing) {
      if (forms <= MAX_FORMS) break;
      changing.delete(oldest);
      forms -= length;
    }
    pattern = undefined;
  };
  const add = (secret: string): void => remember(secret, changing);
  const addConfigured = (secret: string): void => remember(secret, configuredForms);
  const patternNow = (): SecretPattern =>
    (pattern ??= new SecretPattern([...configuredForms.values(), ...changing.values()].flat()));
  const isEmpty = (): boolean => configuredForms.size + changing.size === 0;
  const text = (value: string): string => {
    if (isEmpty()) return value;
    const present = patternNow();
    const redaction = present.removeFrom(value);
    if (redaction === value || !texts.test(value)) return redaction;
    const parts = value.split(texts);
    return parts.map((part, index) => (index % 2 === 0 ? present.removeFrom(part) : part)).join("");
  };
  // A secret can be a word of the structure, which is public. Its replacement would make a value invalid.
  const nameOf = (name: string): string => (isStructureName(name) ? name : text(name));
  const memberOf = (value: string, { name, parent }: TextMember): string => {
    const redaction = text(value);
    if (redaction === value) return value;
    const isKept =
      (isDiscriminator(name) && (isStructureName(value) || isName(value))) ||
      (name === "callId" && callTypes.has(parent.type));
    return isKept ? value : redaction;
  };
  /** Errors contain other errors as causes and members. Those below the maximum are left out. */
  const filterOf = (levels: number): WithoutSecrets => {
    const instance = (value: object): unknown => {
      if (!(value instanceof Error)) return value;
      return levels === 0 ? undefined : errorWithoutSecrets(value, filterOf(levels - 1));
    };
    return (value) => mapTexts(value, { text, name: nameOf, member: memberOf, instance });
  };
  return {
    add,
    addFrom: (target) => secretsOf(target).forEach(addConfigured),
    addModels: (models) => [models].flat().forEach((model) => addModel(model, addConfigured)),
    watchAuth: (auth) => watchHeaders(auth, add),
    watchStorage: (storage) => watchedStorage(storage, add),
    withoutSecrets: filterOf(MAX_ERRORS),
    listWithoutSecrets: (list) => (isEmpty() ? list : filterOf(MAX_ERRORS)(list)),
    uriWithoutSecrets: (uri) => uri.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*@|[?#].*$/gis, text),
    lengthBeforeStart: (value) => (isEmpty() ? value.length : patternNow().lengthBeforeStart(value)),
  };
}

function watchHeaders(auth: HttpAuth, add: (secret: string) => void): HttpAuth {
  return {
    ...(auth.extension !== undefined && { extension: auth.extension }),
    async headers(request) {
      const headers = await auth.headers(request);
      for (const header of Object.entries(headers)) credentialsIn(header).forEach(add);
      return headers;
    },
    ...(auth.responded && { responded: auth.responded.bind(auth) }),
    challenged: (refusal, signal) => auth.challenged(refusal, signal),
  };
}

/** Values that the OAuth library keeps under these names are no secrets. */
const publicMembers = /^(?:token_type|.*_(?:endpoint|supported|methods?|uris?|at|in))$/i;

function watchedStorage(storage: CredentialStorage, add: (secret: string) => void): CredentialStorage {
  const learn = (text: string | undefined): void => {
    if (text === undefined) return;
    try {
      addMembers(JSON.parse(text), add);
    } catch {
      // The value is encrypted or has another format.
    }
  };
  return {
    async get(key) {
      const value = await storage.get(key);
      learn(value);
      return value;
    },
    compareAndSet(key, currentValue, value) {
      learn(value);
      return storage.compareAndSet(key, currentValue, value);
    },
    exclusively: (key, work, signal) => storage.exclusively(key, work, signal),
  };
}

/** Adds the members of a JSON value whose names are those of secrets. */
function addMembers(value: unknown, add: (secret: string) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== "string") addMembers(member, add);
    else if (secretName.test(name) && !publicMembers.test(name) && !URL.canParse(member)) add(member);
  }
}

/** Adds the headers of a model of the AI SDK. Its providers have them as a function of their settings. */
function addModel(model: LanguageModel, add: (secret: string) => void): void {
  const { config } = model as { config?: { headers?: unknown } };
  if (typeof config?.headers !== "function") return;
  const learn = (headers: unknown): void => {
    if (typeof headers !== "object" || headers === null) return;
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value === "string" && secretName.test(name)) credentialsIn([name, value]).forEach(add);
    }
  };
  try {
    const headers: unknown = config.headers();
    // Some providers return a promise, because they request a token.
    if (headers instanceof Promise) headers.then(learn, () => {});
    else learn(headers);
  } catch {
    // The provider reports a missing key with its first request.
  }
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
  const copy = new Error(message);
  for (const [name, value] of Object.entries({ ...members, name: error.name, stack, cause })) {
    if (value !== undefined) Object.defineProperty(copy, name, { value, writable: true, configurable: true });
  }
  // Callers distinguish errors by their class.
  return Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object) as Error;
}

/** Returns the members of an error besides those that every error has. */
function membersOf(error: Error): Record<string, unknown> {
  const names = Object.keys(error).filter((name) => !["message", "stack", "cause", "name"].includes(name));
  return Object.fromEntries(names.map((name) => [name, (error as unknown as Record<string, unknown>)[name]]));
}
