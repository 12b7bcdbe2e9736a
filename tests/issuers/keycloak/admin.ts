import { administrator } from "./start.ts";

/** Milliseconds after which the token of the administrator is replaced. It is valid for a minute. */
const tokenTime = 40_000;

/** The admin REST API of one Keycloak. */
export interface Admin {
  /** Sends a request to a path such as `/realms/notes/users`. Returns the document of the response, or the id of a new object. */
  send(method: string, path: string, body?: unknown): Promise<any>;
}

/** Signs in to the admin REST API when the first request is sent. */
export function adminOf(origin: string): Admin {
  let token: { value: string; since: number } | undefined;

  async function tokenNow(): Promise<string> {
    if (token && Date.now() - token.since < tokenTime) return token.value;
    const body = new URLSearchParams({ grant_type: "password", client_id: "admin-cli", ...administrator });
    const response = await fetch(`${origin}/realms/master/protocol/openid-connect/token`, { method: "POST", body });
    const { access_token: value } = (await response.json()) as { access_token: string };
    token = { value, since: Date.now() };
    return value;
  }

  return {
    async send(method, path, body) {
      const response = await fetch(`${origin}/admin${path}`, {
        method,
        headers: { authorization: `Bearer ${await tokenNow()}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
      const location = response.headers.get("location");
      return location === null ? JSON.parse(text || "null") : location.slice(location.lastIndexOf("/") + 1);
    },
  };
}
