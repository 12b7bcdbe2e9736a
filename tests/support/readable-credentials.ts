import { type CredentialStorage, memoryCredentials } from "../../packages/mcparley/src/auth/client/credentials.ts";
import type { TokenRecord } from "../../packages/mcparley/src/auth/client/tokens.ts";

/** A credential storage in memory whose tokens a test can read without knowing their keys. */
export interface ReadableCredentials extends CredentialStorage {
  /** Returns all stored tokens. */
  tokens(): TokenRecord[];
}

/** Makes an empty storage. */
export function readableCredentials(): ReadableCredentials {
  const memory = memoryCredentials();
  const values = new Map<string, string>();
  return {
    ...memory,
    async compareAndSet(key, expected, value) {
      const isSet = await memory.compareAndSet(key, expected, value);
      if (!isSet) return false;
      if (value === undefined) values.delete(key);
      else values.set(key, value);
      return true;
    },
    tokens: () =>
      [...values.values()].map((value) => JSON.parse(value) as TokenRecord).filter((value) => "accessToken" in value),
  };
}
