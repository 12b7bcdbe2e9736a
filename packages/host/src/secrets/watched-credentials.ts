import type { HttpAuth } from "mcparley/client";
import type { CredentialStorage } from "mcparley/node";
import type { LanguageModel } from "../model/language-model.ts";
import { credentialsIn, secretName } from "./secrets-of-target.ts";

/** Returns an authorization that passes the credentials of each request to `add`. */
export function watchHeaders(auth: HttpAuth, add: (secret: string) => void): HttpAuth {
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

/** Returns a storage that passes the tokens and client secrets, which are read and written, to `add`. */
export function watchedStorage(storage: CredentialStorage, add: (secret: string) => void): CredentialStorage {
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

/** Passes the credentials in the headers of a model of the AI SDK to `add`. Its providers have them as a function of their settings. */
export function readModel(model: LanguageModel, add: (secret: string) => void): void {
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
