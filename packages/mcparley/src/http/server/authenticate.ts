import type { Principal } from "../../server/dispatch/context.ts";
import type { Store } from "../../store/store.ts";
import type { HttpRequestHead } from "../exchange.ts";
import { checkedBy } from "./auth-list.ts";
import type { AuthenticationRequest, HttpServerAuth } from "./options.ts";
import { HttpRefusal } from "./refusal.ts";

type Outcome = Principal | HttpRefusal | undefined;

/**
 * Authenticates a request by the entry of a list that its credential fits. Returns a refusal with the challenges of all entries if it
 * fits none, or is refused with 401. An entry never receives the credential of another one.
 */
export async function authenticateByList(
  auths: readonly HttpServerAuth[],
  request: AuthenticationRequest,
  store: Store | undefined,
): Promise<Principal | HttpRefusal> {
  const matches = await Promise.all(auths.map(async (auth) => auth.match?.(request)));
  const chosen = auths[matches.indexOf("certain")] ?? auths[matches.indexOf("possible")];
  if (chosen) checkedBy.set(request, chosen);
  const outcome = chosen && (await outcomeOf(chosen, request, store));
  if (outcome && !(outcome instanceof HttpRefusal && outcome.status === 401)) return outcome;
  const other = chosen ? withoutCredentials(request) : request;
  const outcomes = await Promise.all(
    auths.map(async (auth) => (auth === chosen ? outcome : outcomeOf(auth, other, store))),
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
function refusalOf(outcomes: readonly Outcome[], refused: HttpRefusal | undefined): HttpRefusal {
  const refusals = outcomes.filter((outcome) => outcome instanceof HttpRefusal);
  const challenges = refusals.flatMap(({ options }) => options.headers?.["www-authenticate"] ?? []);
  const message = refused?.message ?? [...new Set(refusals.map((refusal) => refusal.message))].join(" ");
  const headers = { ...refused?.options.headers, "www-authenticate": challenges.join(", ") };
  const status = refused?.status ?? refusals[0]?.status ?? 401;
  return new HttpRefusal(status, message, { ...refused?.options, headers });
}

/** Returns a request to which an entry answers with its challenge. */
function withoutCredentials({ method, path, secure }: HttpRequestHead): AuthenticationRequest {
  return { method, path, secure, query: "", header: () => undefined, decorate: () => undefined };
}
