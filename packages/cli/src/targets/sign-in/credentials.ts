import { existsSync } from "node:fs";
import type { CredentialStorage, RegisteredClient } from "mcparley/auth";
import { fileCredentials, keychain } from "mcparley/node";
import type { Screen } from "../../terminal/screen.ts";
import type { CredentialsPlace } from "./credentials-place.ts";
import { exclusiveWork } from "./exclusive-work.ts";

/** Milliseconds of waiting for another process after which a note is shown to the user. */
const patience = 1_500;

/** Opens the storage of a place. The folder is created with the first write. */
export async function openStorage(place: CredentialsPlace, screen: Pick<Screen, "note">): Promise<CredentialStorage> {
  const storage = await openFolder(place);
  return {
    get: (key) => storage.get(key),
    compareAndSet: (key, expected, value) => storage.compareAndSet(key, expected, value),
    async exclusively(key, work, signal) {
      const timer = setTimeout(
        () => screen.note("Waiting for the credentials, which another mcparley process has locked ..."),
        patience,
      );
      const start = (): ReturnType<typeof work> => {
        clearTimeout(timer);
        exclusiveWork.add(running);
        return work();
      };
      const running = storage.exclusively(key, start, signal);
      try {
        return await running;
      } finally {
        clearTimeout(timer);
        exclusiveWork.delete(running);
      }
    },
  };
}

async function openFolder({ folder, usesKeychain }: CredentialsPlace): Promise<CredentialStorage> {
  if (!usesKeychain) return fileCredentials(folder);
  const key = keychain();
  // An existing folder selects the keychain for later commands, so it must not be created if the keychain does not work.
  if (!existsSync(folder)) await key.get();
  return fileCredentials(folder, { key });
}

const keyFor = (server: string): string => `mcparley-command:client:${new URL(server).href}`;

/** A client that was registered by hand, and the redirect URI with which it is registered, if only one is. */
export interface ChosenClient extends RegisteredClient {
  readonly redirectUri?: string;
}

/** Returns the client that was chosen at the login. It is needed to renew and revoke the tokens. */
export async function readClient(storage: CredentialStorage, server: string): Promise<ChosenClient | undefined> {
  const storedClient = await storage.get(keyFor(server));
  return storedClient === undefined ? undefined : (JSON.parse(storedClient) as ChosenClient);
}

/** Remembers the client for a server; undefined forgets it. */
export async function rememberClient(
  storage: CredentialStorage,
  server: string,
  client: ChosenClient | undefined,
): Promise<void> {
  const key = keyFor(server);
  const value = client && JSON.stringify(client);
  for (;;) {
    const previousValue = await storage.get(key);
    if (previousValue === value || (await storage.compareAndSet(key, previousValue, value))) return;
  }
}
