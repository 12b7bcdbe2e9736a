import { isLoopback } from "@mcparley/internal/loopback";
import {
  type Field,
  isList,
  isMapping,
  items,
  members,
  oneOf,
  readMembers,
  text,
  texts,
  wrong,
} from "../yaml/yaml-fields.ts";

/** One authorization server whose tokens are accepted. */
export interface IssuerSettings {
  issuer: string;
  /** URL of the issuer's keys. If undefined, it is read from the issuer's metadata. */
  jwks?: string;
  /** Client credentials for the introspection of opaque tokens. If undefined, opaque tokens are rejected. */
  introspection?: { clientId: string; secretEnv: string };
}

/** The scopes that a file or folder requires. `path` is relative to the served folder. */
export interface ScopeRule {
  path: string;
  scopes: string[];
  /** The field in `server.yaml`, for error positions. */
  field: Field;
}

/** The settings in `auth` of `server.yaml`: authorization over HTTP. */
export interface AuthSettings {
  resource: string;
  issuers: IssuerSettings[];
  /** Accepted audiences. If empty, tokens must name the resource. */
  audience: readonly string[];
  /** The scopes that a client requests first. */
  scopes: readonly string[];
  /** The implied scopes, by scope. */
  implies: ReadonlyMap<string, string[]>;
  needs: readonly ScopeRule[];
  dpop: "accepted" | "required";
}

/** Reads `auth`. Throws `FolderProblem` for any error in it, because partly read settings would not protect the server. */
export function readAuth(field: Field): AuthSettings {
  const { resource, issuers, ...otherSettings } = readMembers(field, {
    resource: secureUrl,
    issuers: readIssuers,
    audience: oneOrMore,
    scopes: scopesOf,
    implies: (implies) =>
      new Map([...members(implies)].map(([scope, impliedScopes]) => [scope, scopesOf(impliedScopes)])),
    needs: (needs) => [...members(needs)].map(([path, scopesField]) => readRule(path, scopesField)),
    dpop: (dpop) => oneOf(dpop, ["accepted", "required"]),
  });
  if (resource === undefined)
    throw wrong(field, "auth needs a resource", "Write `resource:` with the URL that clients connect to.");
  if (!issuers) throw wrong(field, "auth needs issuers", "Write `issuers:` with a list of authorization servers.");
  const defaults = { audience: [], scopes: [], implies: new Map(), needs: [], dpop: "accepted" } as const;
  return { resource, issuers, ...defaults, ...otherSettings };
}

function readIssuers(field: Field): IssuerSettings[] {
  const issuers = (isList(field) ? items(field) : [field]).map((item) => readIssuer(item));
  if (issuers.length === 0) throw wrong(field, "issuers is empty", "Name an authorization server, by its https URL.");
  if (issuers.filter(({ introspection }) => introspection).length > 1) {
    const cure = "An opaque token does not name its issuer, so only one issuer can have introspection.";
    throw wrong(field, "two issuers have introspection", cure);
  }
  return issuers;
}

function readIssuer(item: Field): IssuerSettings {
  if (!isMapping(item)) return { issuer: secureUrl(item) };
  const { issuer, ...otherSettings } = readMembers(item, {
    issuer: secureUrl,
    jwks: secureUrl,
    introspection: readIntrospection,
  });
  if (issuer !== undefined) return { issuer, ...otherSettings };
  throw wrong(item, "an issuer needs its URL", "Write `- issuer: https://...`.");
}

function readIntrospection(field: Field): { clientId: string; secretEnv: string } {
  const { clientId, secretEnv } = readMembers(field, { clientId: text, secretEnv: text });
  if (clientId !== undefined && secretEnv !== undefined) return { clientId, secretEnv };
  const cure = "Write both; secretEnv names the environment variable that holds the secret.";
  throw wrong(field, "introspection needs clientId and secretEnv", cure);
}

const places = /^[a-z][a-z0-9-]{0,62}(?:\/|$)/;

function readRule(path: string, field: Field): ScopeRule {
  const parts = path.replace(/\/$/, "").split("/");
  if (!places.test(path) || parts.some((part) => part === "" || part === "." || part === "..")) {
    const cure = "Start it with tools/, prompts/, resources/, skills/ or the name of a root, as lists show it.";
    throw wrong(field, `"${path}" is not a path of a served entry`, cure);
  }
  const scopes = scopesOf(field);
  if (scopes.length > 0) return { path: parts.join("/"), scopes, field };
  throw wrong(field, `"${path}" names no scope`, "Name a scope, or remove the line.");
}

function scopesOf(field: Field): string[] {
  const scopes = oneOrMore(field).flatMap((text) => text.split(" ").filter((scope) => scope !== ""));
  const odd = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope) || scope === "offline_access");
  if (odd === undefined) return scopes;
  throw wrong(
    field,
    `"${odd}" is not a scope that a server can require`,
    "Use letters, digits and signs such as : and /.",
  );
}

function oneOrMore(field: Field): string[] {
  return isList(field) ? texts(field) : [text(field)];
}

/** Returns a secure URL as written. URLs that differ in a slash identify different servers. */
function secureUrl(field: Field): string {
  const value = text(field);
  const { protocol = "", hostname = "", search = "", hash = "" } = URL.canParse(value) ? new URL(value) : {};
  const isSafe = protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
  if (isSafe && hash === "" && search === "") return value;
  throw wrong(
    field,
    `"${value}" is not an https URL`,
    "Give a URL without a query or fragment. http is allowed only for this machine.",
  );
}
