import type { CredentialStorage, GivenClient } from "mcparley/auth";

const keyFor = (server: string): string => `mcparley-command:client:${new URL(server).href}`;

/** The client that was given at the login, and is needed to renew and revoke what it got. */
export async function readClient(storage: CredentialStorage, server: string): Promise<GivenClient | undefined> {
  const kept = await storage.get(keyFor(server));
  return kept === undefined ? undefined : (JSON.parse(kept) as GivenClient);
}

/** Remembers the client for a server; undefined forgets it. */
export async function rememberClient(
  storage: CredentialStorage,
  server: string,
  client: GivenClient | undefined,
): Promise<void> {
  const key = keyFor(server);
  const value = client && JSON.stringify(client);
  for (;;) {
    const before = await storage.get(key);
    if (before === value || (await storage.compareAndSet(key, before, value))) return;
  }
}
