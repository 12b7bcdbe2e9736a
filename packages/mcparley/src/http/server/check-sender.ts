import { type Principal, principalKey } from "../../server/dispatch/context.ts";
import { storeOf } from "../../server/store-of.ts";
import { makeCors } from "./cors.ts";
import type { EndpointContext, Sender } from "./endpoint-context.ts";
import type { HttpExchange } from "../exchange.ts";
import type { HttpOptions } from "./options.ts";
import { makeProxyReader } from "../../net/proxy-address.ts";
import { HttpRefusal } from "./refusal.ts";

/**
 * Finds out who sent a request. Undefined if it was a CORS preflight, which is then answered. `admit` is called between
 * the CORS checks and authentication. Throws a refusal for a sender that is not authorized.
 */
export type CheckSender = (exchange: HttpExchange, admit: () => unknown) => Promise<Sender | undefined>;

/** Makes the checks of an endpoint with the options `cors`, `auth` or `trustProxy`. Loaded only for these. */
export function makeSenderCheck({ cors, trustProxy }: HttpOptions, { auth, core }: EndpointContext): CheckSender {
  const pages = cors ? makeCors(cors === true ? {} : cors) : undefined;
  const readProxy = trustProxy ? makeProxyReader(trustProxy) : undefined;

  return async (exchange, admit) => {
    const origin = exchange.header("origin");
    if (origin !== undefined) pages?.decorate(exchange, origin);
    if (exchange.method === "OPTIONS" && pages?.preflight(exchange)) return undefined;
    admit();
    const principal = exchange.principal ?? (await auth?.authenticate(exchange, storeOf(core))) ?? undefined;
    if (principal instanceof HttpRefusal) throw principal;
    if (principal !== undefined) checkPrincipal(principal);
    const { address, network = "" } = readProxy ? readProxy(exchange) : exchange;
    return { principal, address, caller: principal ? principalKey(principal) : network };
  };
}

/** Throws for a principal that JavaScript or a framework made of other parts. It must not count as an anonymous caller. */
function checkPrincipal(principal: Principal): void {
  const { issuer, subject, scopes } = principal as Partial<Principal>;
  const isWhole = typeof issuer === "string" && typeof subject === "string" && subject !== "";
  if (isWhole && Array.isArray(scopes)) return;
  throw new TypeError(
    "A principal must be { issuer, subject, scopes }: two strings and a list. The subject is not empty.",
  );
}
