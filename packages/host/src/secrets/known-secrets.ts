import { redact } from "mcparley";
import type { HttpAuth } from "mcparley/client";
import type { ServerTarget } from "../values/server-target.ts";

const hidden = "[redacted]";

/** Minimum length of a secret. Shorter values occur inside other words. */
const MIN_LENGTH = 6;

/** Maximum number of secrets. The oldest one is dropped for a new one, for example a rotated token. */
const MAX_SECRETS = 1_000;

/** Names of settings whose values are secret. */
const secretName = /key|token|secret|passw|passphrase|credential|auth|cookie|session|dsn|private|signature|pat$/i;

/** A long word without spaces and slashes that mixes letters and digits, such as a token. */
const tokenLike = /^(?=.*[a-z])(?=.*\d)[\w.~+=:-]{20,}$/i;

/** Headers whose values are never secret. */
const publicHeaders = new Set(["accept", "accept-language", "content-type", "user-agent"]);

/** The secrets of a host's configuration, and a filter that removes them from texts. */
export interface KnownSecrets {
  /** Adds a secret. Also its base64 and its percent-encoded form are removed from texts. */
  add(this: void, secret: string): void;
  /** Adds the secrets in the settings of a server: of its environment, headers and URL. */
  addFrom(this: void, target: ServerTarget): void;
  /** Returns an authorization that adds the credentials of each request. */
  watchAuth(this: void, auth: HttpAuth): HttpAuth;
  /** Returns the text without the secrets. */
  hide(this: void, text: string): string;
  /** Returns the value with the secrets removed from all of its strings. Returns the same object if it has none. */
  hideIn<T>(this: void, value: T): T;
  /** Returns the error, or one with the same name and code whose message has no secret. */
  hideInError(this: void, error: Error): Error;
}

/** Creates an empty set of known secrets. */
export function knownSecrets(): KnownSecrets {
  const forms = new Set<string>();
  /** Longer forms are first, because a secret can contain another one. */
  let ordered: string[] = [];
  const add = (secret: string): void => {
    const trimmed = secret.trim();
    if (trimmed.length < MIN_LENGTH) return;
    for (const form of formsOf(trimmed)) {
      forms.delete(form);
      forms.add(form);
    }
    for (const oldest of forms) {
      if (forms.size <= MAX_SECRETS) break;
      forms.delete(oldest);
    }
    ordered = [...forms].toSorted((a, b) => b.length - a.length);
  };
  const hide = (text: string): string => {
    let result = text;
    for (const form of ordered) if (result.includes(form)) result = result.replaceAll(form, hidden);
    return result;
  };
  return {
    add,
    addFrom: (target) => secretsOf(target).forEach(add),
    watchAuth: (auth) => watched(auth, add),
    hide,
    hideIn: (value) => hideDeep(value, hide),
    hideInError(error) {
      const message = hide(redact(error.message));
      if (message === error.message) return error;
      const { name, code } = error as Error & { code?: unknown };
      return Object.assign(new Error(message), { name }, code === undefined ? {} : { code });
    },
  };
}

/** Returns the forms in which a server could send a secret back. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), bytes.toString("base64url")];
  // Without padding, so that the forms with and without padding match.
  forms.push(bytes.toString("base64").replace(/=+$/, ""));
  return forms;
}

function secretsOf(target: ServerTarget): string[] {
  if (typeof target === "string" || target instanceof URL) return secretsOfUrl(target);
  if ("command" in target) {
    const env = Object.entries(target.env ?? {});
    return [
      ...env.filter(([name, value]) => secretName.test(name) || tokenLike.test(value)).map(([, value]) => value),
      ...secretArguments(target.args ?? []),
    ];
  }
  if (!("url" in target)) return [];
  const headers = Object.entries(target.headers ?? {}).filter(([name]) => !publicHeaders.has(name.toLowerCase()));
  return [...secretsOfUrl(target.url), ...headers.flatMap(([, value]) => credentialsIn(value))];
}

/** Returns the values of arguments such as `--api-key VALUE` and `--token=VALUE`. */
function secretArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const [, flag, value] = /^--?([\w-]+)=(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined && value !== undefined) return secretName.test(flag) ? [value] : [];
    const before = /^--?([\w-]+)$/.exec(args[index - 1] ?? "")?.[1];
    return (before !== undefined && secretName.test(before)) || tokenLike.test(arg) ? [arg] : [];
  });
}

function secretsOfUrl(target: string | URL): string[] {
  if (!URL.canParse(String(target))) return [];
  const url = new URL(target);
  const query = [...url.searchParams].filter(([name, value]) => secretName.test(name) || tokenLike.test(value));
  const segments = url.pathname.split("/").filter((segment) => tokenLike.test(segment));
  return [decodeURIComponent(url.password), ...query.map(([, value]) => value), ...segments];
}

/** Returns a header's value, and the credentials after its scheme, as in `Bearer VALUE`. */
function credentialsIn(value: string): string[] {
  const [, credentials] = /^[\w-]+\s+(\S.*)$/.exec(value) ?? [];
  return credentials === undefined ? [value] : [value, credentials];
}

function watched(auth: HttpAuth, add: (secret: string) => void): HttpAuth {
  return {
    ...(auth.extension !== undefined && { extension: auth.extension }),
    async headers(request) {
      const headers = await auth.headers(request);
      for (const value of Object.values(headers)) credentialsIn(value).forEach(add);
      return headers;
    },
    ...(auth.responded && { responded: auth.responded.bind(auth) }),
    challenged: (refusal, signal) => auth.challenged(refusal, signal),
  };
}

function hideDeep<T>(value: T, hide: (text: string) => string): T {
  if (typeof value === "string") return hide(value) as T;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => hideDeep(item, hide));
    return items.some((item, index) => item !== value[index]) ? (items as T) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [hide(name), hideDeep(member, hide)] as const);
  const isChanged = entries.some(([name, member]) => (value as Record<string, unknown>)[name] !== member);
  return isChanged ? (Object.fromEntries(entries) as T) : value;
}
