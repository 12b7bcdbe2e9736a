/** Servers over HTTP on runtimes with web `Request` and `Response`, and the types of their options and authentication. */
export type {
  HttpExchange,
  Platform,
  HttpRequestHead,
  RequestOptions,
  ResponseHeaders,
  ResponseStream,
} from "./http/exchange.ts";
export type {
  CorsOptions,
  EventOptions,
  HealthOptions,
  HttpOptions,
  LegacySseOptions,
  SessionOptions,
  TrustedProxy,
} from "./http/server/options.ts";
export { HttpRefusal, type RefusalOptions } from "./http/server/refusal.ts";
export type {
  AuthenticationRequest,
  Authenticate,
  CredentialMatch,
  HttpServerAuth,
  PublicResponse,
} from "./http/server/options.ts";
export { type FetchFunction, type FetchHandler, toFetch } from "./http/fetch/to-fetch.ts";
export { type OtherImport, StreamableHTTPServerTransport } from "./mcp/other-imports.ts";
