import type { HttpAuth } from "mcparley/client";
import type { CredentialStorage } from "mcparley/node";
import { isObject } from "@mcparley/internal/is-object";
import type { ModelSetting } from "../model/language-model.ts";
import { uniqueNames } from "../values/map-texts.ts";
import type { ServerTarget, SecretFilter, WithoutSecrets } from "../values/types.ts";
import { namedForms, secretForms } from "./secret-forms.ts";
import { type FilterPatterns, type OwnParts, createFilter } from "./secret-filter.ts";
import { SecretPattern } from "./secret-pattern.ts";
import { secretsOf } from "./secrets-of-target.ts";
import { readModel, watchedStorage, watchHeaders } from "./watched-credentials.ts";

/** Minimum length of a secret. Shorter values occur inside other words. */
const MIN_LENGTH = 6;

/** Maximum number of forms of a server's changing secrets. The oldest ones are dropped for new ones, for example for a rotated token. */
const MAX_FORMS = 1_000;

/** Maximum number of names and URIs of a server whose secrets were removed. The oldest ones are dropped. */
const MAX_ORIGINALS = 10_000;

/**
 * The secrets of a host, and filters that remove them from values.
 *
 * A secret is removed from the texts of the server to which it belongs, and from the texts of the user. A server that chooses its tokens
 * can so change no text of another server. A random value of the configuration, which no server chooses, is removed from all texts. A value
 * of ordinary words is removed from none, because ordinary texts contain it, unless the text shows that it is a password. Only random
 * values are removed from names of members.
 */
export interface KnownSecrets extends SecretFilter {
  /** Adds the credentials that the providers of models send in their headers, as far as they show them. They belong to all texts. */
  addModels(this: void, models: ModelSetting): void;
  /** Returns the secrets of a server. Those of a server that was removed are still known. */
  of(this: void, server: string): ServerSecrets;
}

/** The secrets of one server, and a filter for its texts. */
export interface ServerSecrets {
  /** Removes the secrets of this server, and the random values of the configuration. */
  readonly withoutSecrets: WithoutSecrets;
  /** Returns a URI without secrets in its user, its query and its fragment. The rest identifies a resource. */
  uriWithoutSecrets(this: void, uri: string): string;
  /**
   * Adds a secret that can change, such as a token. Also its base64, its percent-encoded form and its form in JSON are removed from
   * texts. The oldest ones are forgotten for new ones.
   */
  add(this: void, secret: string): void;
  /** Adds the secrets in the settings of the server: of its environment, headers and URL. */
  addFrom(this: void, target: ServerTarget): void;
  /** Returns a list of JSON, whose depth was checked, without secrets. A long list is not read while no secret is known. */
  listWithoutSecrets<T extends readonly object[]>(this: void, list: T): T;
  /** Returns the name or URI that the server has sent for one without secrets of `listWithoutSecrets`. */
  originalOf(this: void, name: string): string;
  /** Returns a storage of credentials that adds the tokens and client secrets which are read and written. */
  watchStorage(this: void, storage: CredentialStorage): CredentialStorage;
  /** Returns an authorization that adds the credentials of each request. */
  watchAuth(this: void, auth: HttpAuth): HttpAuth;
}

const noOwnParts: OwnParts = { isName: () => false, texts: /(?!)()/ };

/** Creates an empty set of known secrets. */
export function knownSecrets(ownParts: OwnParts = noOwnParts): KnownSecrets {
  /** Counts the new secrets. */
  let version = 0;
  const onNew = (): void => void (version += 1);
  const shared = new SecretSet(onNew);
  const sets = new Map<string, SecretSet>();
  const servers = new Map<string, ServerSecrets>();
  /** Returns the patterns of sets, which are made with the first text after a new secret. */
  const patternsOf = (chooseSets: () => readonly SecretSet[]): (() => FilterPatterns) => {
    let patterns: FilterPatterns = {};
    let versionOfPatterns = 0;
    return () => {
      if (versionOfPatterns === version) return patterns;
      versionOfPatterns = version;
      const secrets = chooseSets().flatMap((set) => set.secrets());
      const randomSecrets = secrets.filter(([secret]) => isRandom(secret));
      return (patterns = { text: toPattern(secrets), name: toPattern(randomSecrets) });
    };
  };
  const sharedPatterns = patternsOf(() => [shared]);
  const filterOf = (patterns: () => FilterPatterns): WithoutSecrets => createFilter(ownParts, patterns);
  const newServer = (server: string): ServerSecrets => {
    const set = new SecretSet(onNew);
    sets.set(server, set);
    const patterns = patternsOf(() => [shared, set]);
    const withoutSecrets = filterOf(patterns);
    const originals = new Map<string, string>();
    const add = (secret: string): void => set.add(secret);
    return {
      add,
      addFrom(target) {
        for (const secret of secretsOf(target)) (isRandom(secret) ? shared : set).addConfigured(secret);
      },
      watchAuth: (auth) => watchHeaders(auth, add),
      watchStorage: (storage) => watchedStorage(storage, add),
      withoutSecrets,
      listWithoutSecrets: (list) => (patterns().text ? filteredList(list, { withoutSecrets, originals }) : list),
      originalOf: (name) => originals.get(name) ?? name,
      uriWithoutSecrets: (uri) => uri.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*@|[?#].*$/gis, (part) => withoutSecrets(part)),
    };
  };
  const of = (server: string): ServerSecrets => {
    const known = servers.get(server) ?? newServer(server);
    servers.set(server, known);
    return known;
  };
  const withoutSecrets = filterOf(sharedPatterns);
  const userTextWithoutSecrets = filterOf(patternsOf(() => [shared, ...sets.values()]));
  return {
    addModels: (models) => [models].flat().forEach((model) => readModel(model, (key) => shared.addConfigured(key))),
    of,
    withoutSecrets,
    userTextWithoutSecrets,
    messageWithoutSecrets: (message) => filterMessage(message, { withoutSecrets, userTextWithoutSecrets }),
    lengthBeforeStart: (text) => sharedPatterns().text?.lengthBeforeStart(text) ?? text.length,
  };
}

/**
 * Returns a message without secrets. A user's message can have texts of servers, which have none of their server any more. Returns the same
 * message if it has none.
 */
function filterMessage<T extends { readonly role: string; readonly content: unknown }>(
  message: T,
  { withoutSecrets, userTextWithoutSecrets }: Pick<SecretFilter, "withoutSecrets" | "userTextWithoutSecrets">,
): T {
  if (message.role !== "user") return withoutSecrets(message);
  if (!Array.isArray(message.content)) return userTextWithoutSecrets(message);
  const parts: readonly unknown[] = message.content;
  const content = parts.map((part) =>
    isObject(part) && part.from !== undefined ? withoutSecrets(part) : userTextWithoutSecrets(part),
  );
  return content.some((part, index) => part !== parts[index]) ? { ...message, content } : message;
}

type Secret = readonly [secret: string, forms: readonly string[]];

function toPattern(secrets: readonly Secret[]): SecretPattern | undefined {
  return secrets.length === 0 ? undefined : new SecretPattern(secrets.flatMap(([, forms]) => forms));
}

/** The secrets of one origin. */
class SecretSet {
  /** The forms of each secret. The one that was seen last is last. */
  readonly #configured = new Map<string, readonly string[]>();
  readonly #changing = new Map<string, readonly string[]>();
  readonly #onNew: () => void;

  /** `onNew` is called with each new secret. */
  constructor(onNew: () => void) {
    this.#onNew = onNew;
  }

  /** Returns the secrets with their forms. */
  secrets(): Secret[] {
    return [...this.#configured, ...this.#changing];
  }

  addConfigured(secret: string): void {
    const formsOf = isOrdinary(secret.trim()) ? namedForms : secretForms;
    this.#remember(secret, { secrets: this.#configured, formsOf });
  }

  add(secret: string): void {
    if (isOrdinary(secret.trim()) || !this.#remember(secret, { secrets: this.#changing, formsOf: secretForms })) return;
    let forms = [...this.#changing.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest, { length }] of this.#changing) {
      if (forms <= MAX_FORMS) break;
      this.#changing.delete(oldest);
      forms -= length;
    }
  }

  /** Returns whether the secret is new. Each request with a token comes here. */
  #remember(
    secret: string,
    { secrets, formsOf }: { secrets: Map<string, readonly string[]>; formsOf: (value: string) => readonly string[] },
  ): boolean {
    const value = secret.trim();
    if (value.length < MIN_LENGTH) return false;
    const knownForms = secrets.get(value);
    secrets.delete(value);
    secrets.set(value, knownForms ?? formsOf(value));
    if (!knownForms) this.#onNew();
    return !knownForms;
  }
}

/** A word of at most 15 letters in one of the usual spellings, or a short number. Passwords for applications often have 16 letters. */
const wordForm = /^(?:\p{Lu}?[\p{Ll}\p{Lo}]{1,14}|\p{Lu}{1,15}|\d{1,4})$/u;

/**
 * Whether a value has only words, such as `postgres`, `read-only` or `/etc/keys/server.pem`. A password of four or more words is no ordinary
 * value.
 */
function isOrdinary(value: string): boolean {
  const words = value.split(/[-_./\\:,;\s]+/).filter(Boolean);
  return words.length > 0 && words.every((word) => wordForm.test(word)) && (words.length < 4 || /[\\/]/.test(value));
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Whether a value is random: a UUID, or one with a long part that no ordinary text contains by chance. */
function isRandom(value: string): boolean {
  return uuid.test(value) || value.split(/[^A-Za-z\d]+/).some(isRandomPart);
}

/** Whether letters and digits are mixed, or uppercase and lowercase letters more often than in a name of several words. */
function isRandomPart(part: string): boolean {
  if (part.length < 12) return false;
  if (/\d[A-Za-z]+\d/.test(part)) return true;
  if (part.length < 16) return false;
  const changesOfCase = part.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  return (/\d/.test(part) && /[A-Za-z]/.test(part)) || changesOfCase * 5 >= part.length * 2;
}

/** Returns a list without secrets, and stores the original names and URIs of its entries, by which they are called. */
function filteredList<T extends readonly object[]>(
  list: T,
  { withoutSecrets, originals }: { withoutSecrets: WithoutSecrets; originals: Map<string, string> },
): T {
  const entries = withoutSecrets(list);
  if (entries === list) return list;
  const unique = uniqueNames(list.flatMap((entry) => keyOf(entry)?.value ?? []));
  const result = entries.map((entry, index) => {
    const original = keyOf(list[index]!);
    const key = keyOf(entry);
    if (!original || !key || key.value === original.value) return entry;
    const value = unique(key.value);
    originals.delete(value);
    originals.set(value, original.value);
    for (const oldest of originals.keys()) {
      if (originals.size <= MAX_ORIGINALS) break;
      originals.delete(oldest);
    }
    return { ...entry, [key.name]: value };
  });
  return result as unknown as T;
}

/** Returns the member that identifies a tool, a prompt, a resource or a template. */
function keyOf(entry: object): { readonly name: string; readonly value: string } | undefined {
  for (const name of ["uri", "uriTemplate", "name"]) {
    const value = (entry as Record<string, unknown>)[name];
    if (typeof value === "string") return { name, value };
  }
  return undefined;
}
