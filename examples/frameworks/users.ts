export interface User {
  id: string;
  scopes: string[];
}

const users = new Map<string, User>([["Bearer token-of-alice", { id: "alice", scopes: [] }]]);

/** Stands for your authentication: passport, a session cookie, or a library for tokens. */
export function findUser(authorization: string | null | undefined): User | undefined {
  return users.get(authorization ?? "");
}
