import { type Admin, adminOf } from "./admin.ts";

/** The password of all users, as the browser of the tests enters it. */
const password = "any";
/** The secret of the confidential clients. */
export const secret = "secret-of-the-tests-4711";
/** The redirect URI of the clients that are registered by hand, at any port (RFC 8252, 7.3). */
const redirectUri = "http://127.0.0.1/callback";

/** The users, with the member of the representation in which each differs. */
const users = { alice: {}, bob: {}, carol: {}, dave: { enabled: false } };
type UserName = keyof typeof users;

const scopes = ["notes:read", "notes:write", "notes:sign"];
/** The scope that each client has, except one that registers itself with a list of scopes. Its mappers add audiences. */
const audienceScope = "audience";
/** The server that introspects and exchanges tokens. */
export const resourceServer = "notes-server";
/** The service for which `resourceServer` exchanges tokens. */
export const upstream = "calendar";

/** A realm of Keycloak, with the requests that tests send as its administrator. */
export interface Realm {
  readonly name: string;
  readonly issuer: string;
  readonly admin: Admin;
  /** Sends a request to a path of the realm, such as `/users`. */
  send(method: string, path: string, body?: unknown): Promise<any>;
  /** Adds a resource to the audiences of tokens. */
  addAudience(resource: string): Promise<void>;
  /** Returns the internal id of a client, or undefined if there is no such client. */
  findClient(clientId: string): Promise<string | undefined>;
  findUser(name: UserName): Promise<string>;
  /** Returns the number of events of a type, such as `REFRESH_TOKEN`, of one client. */
  countEvents(type: string, clientId: string): Promise<number>;
}

/** Creates a realm with its users, scopes, clients and policies. `publicKey` is the one of the client `private-key`. */
export async function createRealm(origin: string, name: string, publicKey: object): Promise<Realm> {
  const admin = adminOf(origin);
  await admin.send("POST", "/realms", {
    realm: name,
    enabled: true,
    sslRequired: "none",
    revokeRefreshToken: true,
    refreshTokenMaxReuse: 0,
    accessTokenLifespan: 60,
    eventsEnabled: true,
    enabledEventTypes: ["REFRESH_TOKEN"],
  });
  const realm = realmOf(origin, name, admin);
  const ids = await createScopes(realm);
  await Promise.all([createUsers(realm), createClients(realm, ids, publicKey), trustThisMachine(realm)]);
  return realm;
}

/** Creates a realm with the default policies, by which no client can register itself. */
export async function createClosedRealm(origin: string, name: string): Promise<Realm> {
  const admin = adminOf(origin);
  await admin.send("POST", "/realms", { realm: name, enabled: true, sslRequired: "none" });
  return realmOf(origin, name, admin);
}

function realmOf(origin: string, name: string, admin: Admin): Realm {
  const send: Realm["send"] = (method, path, body) => admin.send(method, `/realms/${name}${path}`, body);
  const findClient: Realm["findClient"] = async (clientId) =>
    (await send("GET", `/clients?clientId=${encodeURIComponent(clientId)}`))[0]?.id;
  const audiences = new Set<string>();
  return {
    name,
    issuer: `${origin}/realms/${name}`,
    admin,
    send,
    findClient,
    async addAudience(resource) {
      // A later server can have the port of an earlier one.
      if (audiences.has(resource)) return;
      audiences.add(resource);
      const all: { id: string; name: string }[] = await send("GET", "/client-scopes");
      for (const { id, name: scope } of all) {
        if (scope !== audienceScope && scope !== scopes[0]) continue;
        const mapper = audienceMapper(resource, { custom: resource });
        await send("POST", `/client-scopes/${id}/protocol-mappers/models`, mapper);
      }
    },
    findUser: async (user) => (await send("GET", `/users?exact=true&username=${user}`))[0].id,
    countEvents: async (type, clientId) =>
      (await send("GET", `/events?type=${type}&client=${encodeURIComponent(clientId)}&max=1000`)).length,
  };
}

/** A mapper that adds an audience to access tokens: a text, or a client of the realm. */
function audienceMapper(name: string, audience: { custom: string } | { client: string }): object {
  const [kind, value] = Object.entries(audience)[0]!;
  const config = { [`included.${kind}.audience`]: value, "access.token.claim": "true" };
  return { name, protocol: "openid-connect", protocolMapper: "oidc-audience-mapper", config };
}

/** Creates the scopes: those of the notes are optional, and the scope with the audience belongs to each client. */
async function createScopes(realm: Realm): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const attributes = { "include.in.token.scope": "true" };
  for (const name of scopes) {
    const id = await realm.send("POST", "/client-scopes", { name, protocol: "openid-connect", attributes });
    await realm.send("PUT", `/default-optional-client-scopes/${id}`);
    ids.set(name, id);
  }
  const protocolMappers = [audienceMapper(resourceServer, { client: resourceServer })];
  const audience = { name: audienceScope, protocol: "openid-connect", protocolMappers };
  const id = await realm.send("POST", "/client-scopes", {
    ...audience,
    attributes: { "include.in.token.scope": "false" },
  });
  await realm.send("PUT", `/default-default-client-scopes/${id}`);
  return ids.set(audienceScope, id);
}

async function createUsers(realm: Realm): Promise<void> {
  for (const [username, members] of Object.entries(users)) {
    const id = await realm.send("POST", "/users", {
      username,
      enabled: true,
      emailVerified: true,
      email: `${username}@example.com`,
      firstName: username,
      lastName: "Example",
      credentials: [{ type: "password", value: password, temporary: false }],
      ...members,
    });
    if (username !== "carol") continue;
    // This user has no role, and therefore not `offline_access`.
    const roles = await realm.send("GET", `/users/${id}/role-mappings/realm`);
    await realm.send("DELETE", `/users/${id}/role-mappings/realm`, roles);
  }
}

/** The clients that are registered by hand, with the members in which each differs from a public client. */
function clientsOf(publicKey: object): Record<string, object> {
  const confidential = { publicClient: false, secret, serviceAccountsEnabled: true };
  return {
    public: {},
    confidential,
    "private-key": {
      ...confidential,
      clientAuthenticatorType: "client-jwt",
      attributes: {
        "use.jwks.string": "true",
        "jwks.string": JSON.stringify({ keys: [publicKey] }),
        "token.endpoint.auth.signing.alg": "ES256",
      },
    },
    bound: { attributes: { "dpop.bound.access.tokens": "true" } },
    pushed: { attributes: { "require.pushed.authorization.requests": "true" } },
    short: { attributes: { "access.token.lifespan": "10" } },
    "no-offline": { defaultClientScopes: ["basic"], optionalClientScopes: scopes },
    [resourceServer]: { ...confidential, attributes: { "standard.token.exchange.enabled": "true" } },
    [upstream]: { ...confidential, standardFlowEnabled: false },
  };
}

async function createClients(realm: Realm, ids: Map<string, string>, publicKey: object): Promise<void> {
  for (const [clientId, members] of Object.entries(clientsOf(publicKey))) {
    const id = await realm.send("POST", "/clients", {
      clientId,
      publicClient: true,
      redirectUris: [redirectUri],
      ...members,
    });
    if (clientId === resourceServer) {
      // A token that this server exchanges can have the audience of the other service.
      await realm.send(
        "POST",
        `/clients/${id}/protocol-mappers/models`,
        audienceMapper(upstream, { client: upstream }),
      );
    }
    if (clientId === "no-offline") {
      await realm.send("PUT", `/clients/${id}/default-client-scopes/${ids.get(audienceScope)}`);
    }
  }
}

/** Lets clients on this machine register themselves. */
async function trustThisMachine(realm: Realm): Promise<void> {
  const type = "org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy";
  const policies: any[] = await realm.send("GET", `/components?type=${type}`);
  const trusted = policies.find(({ providerId, subType }) => providerId === "trusted-hosts" && subType === "anonymous");
  trusted.config = { ...trusted.config, "trusted-hosts": ["127.0.0.1", "localhost"] };
  await realm.send("PUT", `/components/${trusted.id}`, trusted);
}
