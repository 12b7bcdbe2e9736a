import { type Principal, principalKey } from "../../server/core/context.ts";
import { storeOf } from "../../server/core/store-of.ts";
import type { Store } from "../../store/store.ts";
import { makeProxyReader } from "../../net/proxy-address.ts";
import type { HttpExchange, HttpRequestHead, ResponseHeaders } from "../exchange.ts";
import {
  LAST_EVENT_ID_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
} from "../header-names.ts";
import { checkedBy, isAuthList } from "./auth-list.ts";
import type { EndpointContext, Sender } from "./endpoint-context.ts";
import type { Authenticate, AuthenticationRequest, CorsOptions, HttpOptions, HttpServerAuth } from "./options.ts";
import { HttpRefusal } from "./refusal.ts";

/**
 * Returns the sender of a request. Answers a CORS preflight, and returns undefined for it. `admit` is called between the CORS
 * checks and authentication. Throws a refusal for a sender that is not authorized.
 */
export type CheckSender = (exchange: HttpExchange, admit: () => unknown) => Promise<Sender | undefined>;

/** Makes the checks of an endpoint with the options `cors`, `auth` or `trustProxy`. Loaded only for these. */
export function makeSenderCheck(
  { auth, cors, trustProxy }: HttpOptions,
  { auths, core }: EndpointContext,
): CheckSender {
  const answerCors = cors ? corsHandler(cors === true ? {} : cors) : undefined;
  const readProxy = trustProxy ? makeProxyReader(trustProxy) : undefined;

  const authenticate: Authenticate = isAuthList(auth)
    ? (request, store) => authenticateByList(auths, request, store)
    : (request, store) => auths[0]?.authenticate(request, store);

  return async (exchange, admit) => {
    if (answerCors?.(exchange)) return undefined;
    admit();
    const principal = exchange.principal ?? (await authenticate(exchange, storeOf(core))) ?? undefined;
    if (principal instanceof HttpRefusal) throw principal;
    if (principal !== undefined) checkPrincipal(principal);
    // Without a usable header the caller is identified by its connection, and does not choose an address.
    const { address, network = "" } = readProxy?.(exchange) ?? exchange;
    return { principal, address, caller: principal ? principalKey(principal) : network };
  };
}

/** Throws for a principal without the required members, which JavaScript can pass. Its caller must not count as anonymous. */
function checkPrincipal({ issuer, subject, scopes }: Partial<Principal>): void {
  const isWhole = typeof issuer === "string" && typeof subject === "string" && subject !== "";
  if (isWhole && Array.isArray(scopes)) return;
  throw new TypeError(
    "A principal must be { issuer, subject, scopes }: two strings and a list. The subject must not be empty.",
  );
}

const requestHeaders = [
  "accept",
  "authorization",
  "dpop",
  "content-type",
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  LAST_EVENT_ID_HEADER,
];
const exposedHeaders = [SESSION_ID_HEADER, "www-authenticate", "dpop-nonce", "retry-after"];

/**
 * Returns a function that adds the headers with which a page can read the response, and answers a preflight. It returns
 * true if the request was a preflight. The guard has checked the origin before.
 */
function corsHandler(options: CorsOptions): (exchange: HttpExchange) => boolean {
  const { headers = [], exposedHeaders: more = [], credentials = false, maxAge = 7200 } = options;
  const allowedHeaders = [...requestHeaders, ...headers.map((name) => name.toLowerCase())];
  const common: ResponseHeaders = {
    vary: "Origin",
    "access-control-expose-headers": [...exposedHeaders, ...more].join(", "),
    ...(credentials && { "access-control-allow-credentials": "true" }),
  };

  return (exchange) => {
    const origin = exchange.header("origin");
    if (origin !== undefined) exchange.decorate({ ...common, "access-control-allow-origin": origin });
    if (exchange.method !== "OPTIONS" || exchange.header("access-control-request-method") === undefined) return false;
    const mirroredHeaders = mirroredIn(exchange.header("access-control-request-headers"));
    exchange.respond(204, {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": [...allowedHeaders, ...mirroredHeaders].join(", "),
      "access-control-max-age": String(maxAge),
    });
    return true;
  };
}

/** Returns the requested headers that mirror arguments. Only the tools know which of these headers exist. */
function mirroredIn(headerList: string | undefined): string[] {
  const names = (headerList ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name.startsWith(PARAM_HEADER_PREFIX) && /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name));
}

type Outcome = Principal | HttpRefusal | undefined;

/**
 * Authenticates a request by the entry of a list that its credential fits. Returns a refusal with the challenges of all entries if it
 * fits none, or is refused with 401. An entry never receives the credential of another one.
 */
async function authenticateByList(
  auths: readonly HttpServerAuth[],
  request: AuthenticationRequest,
  store: Store | undefined,
): Promise<Principal | HttpRefusal> {
  const matches = await Promise.all(auths.map(async (auth) => auth.match?.(request)));
  const matchingAuth = auths[matches.indexOf("certain")] ?? auths[matches.indexOf("possible")];
  if (matchingAuth) checkedBy.set(request, matchingAuth);
  const outcome = matchingAuth && (await outcomeOf(matchingAuth, request, store));
  if (outcome && !(outcome instanceof HttpRefusal && outcome.status === 401)) return outcome;
  const challengeRequest = matchingAuth ? withoutCredentials(request) : request;
  const outcomes = await Promise.all(
    auths.map(async (auth) => (auth === matchingAuth ? outcome : outcomeOf(auth, challengeRequest, store))),
  );
  return refusalOf(outcomes, outcome);
}

async function outcomeOf(
  auth: HttpServerAuth,
  request: AuthenticationRequest,
  store: Store | undefined,
): Promise<Outcome> {
  try {
    return await auth.authenticate(request, store);
  } catch (error) {
    if (error instanceof HttpRefusal) return error;
    throw error;
  }
}

/** Joins the challenges, in the order of the entries (RFC 9110, 11.6.1). `refused` is the refusal of a credential, if there is one. */
function refusalOf(outcomes: readonly Outcome[], credentialRefusal: HttpRefusal | undefined): HttpRefusal {
  const refusals = outcomes.filter((outcome) => outcome instanceof HttpRefusal);
  const challenges = refusals.flatMap(({ options }) => options.headers?.["www-authenticate"] ?? []);
  const message = credentialRefusal?.message ?? [...new Set(refusals.map((refusal) => refusal.message))].join(" ");
  const headers = { ...credentialRefusal?.options.headers, "www-authenticate": challenges.join(", ") };
  const status = credentialRefusal?.status ?? refusals[0]?.status ?? 401;
  return new HttpRefusal(status, message, { ...credentialRefusal?.options, headers });
}

/** Returns a request to which an entry answers with its challenge. */
function withoutCredentials({ method, path, secure }: HttpRequestHead): AuthenticationRequest {
  return { method, path, secure, query: "", header: () => undefined, decorate: () => undefined };
}
