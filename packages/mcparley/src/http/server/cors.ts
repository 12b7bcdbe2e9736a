import type { HttpExchange, ResponseHeaders } from "../exchange.ts";
import {
  LAST_EVENT_ID_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
} from "../header-names.ts";
import type { CorsOptions } from "./options.ts";

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

/** The CORS headers of an endpoint. The guard has checked the origin before. */
export interface Cors {
  /** Adds the headers with which a page can read the response. */
  decorate(exchange: HttpExchange, origin: string): void;
  /** Answers a preflight. Returns false if an `OPTIONS` request is not a preflight. */
  preflight(exchange: HttpExchange): boolean;
}

export function makeCors(options: CorsOptions): Cors {
  const { headers = [], exposedHeaders: more = [], credentials = false, maxAge = 7200 } = options;
  const allowed = [...requestHeaders, ...headers.map((name) => name.toLowerCase())];
  const common: ResponseHeaders = {
    vary: "Origin",
    "access-control-expose-headers": [...exposedHeaders, ...more].join(", "),
    ...(credentials && { "access-control-allow-credentials": "true" }),
  };

  return {
    decorate(exchange, origin) {
      exchange.decorate({ ...common, "access-control-allow-origin": origin });
    },
    preflight(exchange) {
      if (exchange.header("access-control-request-method") === undefined) return false;
      const mirrored = mirroredIn(exchange.header("access-control-request-headers"));
      exchange.respond(204, {
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers": [...allowed, ...mirrored].join(", "),
        "access-control-max-age": String(maxAge),
      });
      return true;
    },
  };
}

/** Returns the requested headers that mirror arguments. Only the tools know which of these headers exist. */
function mirroredIn(requested: string | undefined): string[] {
  const names = (requested ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name.startsWith(PARAM_HEADER_PREFIX) && /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name));
}
