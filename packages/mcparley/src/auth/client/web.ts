/** A request whose URL another server has chosen, or that carries credentials. */
export interface GuardedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether it may go to an address that is not of the public Internet, as when the MCP server has one itself. */
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
}

/** Sends one such request. A redirect is the response and not followed. */
export type SendGuarded = (url: URL, request: GuardedRequest) => Promise<Response>;

/**
 * Sends one request where there are only web standards: what address a name leads to is not seen here, so that of
 * `allowPrivate` nothing can be kept. Browsers and Workers have borders of their own.
 */
export const sendGuarded: SendGuarded = (url, { method, headers, body, signal }) =>
  fetch(url, {
    method,
    headers,
    signal,
    redirect: "manual",
    credentials: "omit",
    cache: "no-store",
    ...(body !== undefined && { body }),
  });
