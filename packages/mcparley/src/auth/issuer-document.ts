import { ResponseBodyError } from "oauth4webapi";
import { type JsonObject, isObject } from "../rpc/messages.ts";

/**
 * Reads a document of an authorization server: its metadata, or a response of an endpoint. The body is JSON, or a form if its media
 * type says so. It remains readable. Returns undefined for any other body.
 *
 * Members without a value are removed, and optional members whose value cannot be used. Other members are not changed.
 */
export async function readDocument(response: Response): Promise<JsonObject | undefined> {
  const text = await response.clone().text();
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(response.headers.get("content-type") ?? "");
  const body = parseJson(text) ?? (isForm ? Object.fromEntries(new URLSearchParams(text)) : undefined);
  return isObject(body) ? usableMembers(body) : undefined;
}

/**
 * Returns a response of an endpoint in the form that oauth4webapi accepts. `status` is the expected status, and replaces every other
 * status of a success. The values of the members are still checked by oauth4webapi.
 *
 * Throws an error for a success by its status: `ResponseBodyError` if the response contains an OAuth error, and an error whose cause is
 * the response if it contains no document.
 */
export async function normalizeResponse(response: Response, status: 200 | 201 = 200): Promise<Response> {
  const { ok } = response;
  const document = await readDocument(response);
  if (!document && ok) throw new Error("The body is no JSON object", { cause: response });
  if (!document) return response;
  const { error } = document;
  if (ok && typeof error === "string") {
    throw new ResponseBodyError("The response contains an error.", { cause: { ...document, error }, response });
  }
  const headers = new Headers(response.headers);
  headers.set("content-type", "application/json");
  const body = JSON.stringify(ok ? withDefaults(document) : document);
  return new Response(body, { status: ok ? status : response.status, headers });
}

/** Returns the texts of a list. Some servers publish one text with all values. */
export function readTexts(value: unknown): string[] | undefined {
  if (typeof value === "string") return value.match(/\S+/g) ?? [];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function usableMembers(document: JsonObject): JsonObject {
  const members = Object.entries(document).flatMap(([name, value]) => {
    if (value === null || value === "") return [];
    const reader = readers.get(name);
    const usableValue = reader ? reader(value) : value;
    return usableValue === undefined ? [] : [[name, usableValue] as const];
  });
  return Object.fromEntries(members);
}

/** Adds the members that oauth4webapi requires in a success, if the server left them out. */
function withDefaults(document: JsonObject): JsonObject {
  const { authed_user: user } = document;
  // Slack issues the token of a user in a member, and names the type of its tokens by the kind of the account.
  const tokenDocument =
    document.access_token === undefined && isObject(user) ? { ...document, ...usableMembers(user) } : document;
  const { id_token: idToken, ...members } = tokenDocument;
  const { access_token: token, client_secret: secret, token_type: type, request_uri: requestUri } = members;
  const isBearer = token !== undefined && (type === undefined || type === "user" || type === "bot");
  return {
    ...(secret !== undefined && { client_secret_expires_at: 0 }),
    ...(requestUri !== undefined && { expires_in: 60 }),
    ...members,
    ...(isBearer && { token_type: "Bearer" }),
    // The ID token is only displayed, so it must not fail the response.
    ...(idToken !== undefined && { [unverifiedIdToken]: idToken }),
  };
}

/** The name of the ID token in a normalized response. oauth4webapi would refuse a response for the claims in the ID token. */
export const unverifiedIdToken = "unverified_id_token";

/** Returns the value of a member. Undefined if the value cannot be used. */
type Reader = (value: unknown) => unknown;

const readText: Reader = (value) => (typeof value === "string" ? value : undefined);

/** Some servers write spaces around the type of a token. */
const readName: Reader = (value) => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);

/** Some servers write a text. */
const readBoolean: Reader = (value) => {
  if (value === true || value === "true") return true;
  return value === false || value === "false" ? false : undefined;
};

const readNumber = (value: unknown): number | undefined => {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
};

/** A lifetime of 0 or less means that it is unknown. Larger lifetimes than the largest date cannot be stored. */
const readLifetime: Reader = (value) => {
  const seconds = readNumber(value);
  return seconds !== undefined && seconds > 0 && seconds < 1e12 ? seconds : undefined;
};

/** Scopes are separated by spaces (RFC 6749, 3.3). Some servers separate them by commas, and some write a list. */
const readScope: Reader = (value) => {
  const text = Array.isArray(value) ? readTexts(value)?.join(" ") : value;
  if (typeof text !== "string") return undefined;
  return text.includes(" ") ? text.replace(/, +/g, " ") : text.replaceAll(",", " ");
};

/** An empty list says nothing: a server without values omits the member (RFC 8414, 3.2). */
const readList: Reader = (value) => {
  const texts = readTexts(value);
  return texts?.length === 0 ? undefined : texts;
};

/** The optional members that are used here or by oauth4webapi. A name has the same meaning in all documents. */
const readers: ReadonlyMap<string, Reader> = new Map([
  ["authorization_endpoint", readText],
  ["authorization_response_iss_parameter_supported", readBoolean],
  ["client_id_metadata_document_supported", readBoolean],
  ["client_secret", readText],
  ["client_secret_expires_at", readNumber],
  ["code_challenge_methods_supported", readList],
  ["dpop_bound_access_tokens_required", readBoolean],
  ["dpop_signing_alg_values_supported", readList],
  ["error_description", readText],
  ["expires_in", readLifetime],
  ["grant_types_supported", readList],
  ["id_token", readText],
  ["introspection_endpoint", readText],
  ["introspection_endpoint_auth_methods_supported", readList],
  ["issued_token_type", readText],
  ["jwks_uri", readText],
  ["pushed_authorization_request_endpoint", readText],
  ["refresh_token", readText],
  ["registration_endpoint", readText],
  ["require_pushed_authorization_requests", readBoolean],
  ["revocation_endpoint", readText],
  ["scope", readScope],
  ["scopes_supported", readList],
  ["token_endpoint", readText],
  ["token_endpoint_auth_method", readText],
  ["token_endpoint_auth_methods_supported", readList],
  ["token_type", readName],
]);
