/** Replaces the modules `#guarded-send` and `#loopback-sign-in` of Node in browsers and Workers. */
import { LocalError } from "../../rpc/errors.ts";
import type { HttpConnection } from "../../http/client/settings.ts";
import type { SignIn } from "./sign-in.ts";

/** A request whose URL was chosen by another server, or that contains credentials. */
export interface GuardedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether addresses outside of the public Internet are allowed, because the MCP server has one itself. */
  readonly allowPrivate: boolean;
  /** The proxy and the certificates. Node only. */
  readonly connection?: HttpConnection | undefined;
  readonly signal: AbortSignal;
}

/** Sends one such request. A redirect is returned and not followed. */
export type SendGuarded = (url: URL, request: GuardedRequest) => Promise<Response>;

/**
 * Sends one request with `fetch`. It ignores `allowPrivate`, because `fetch` does not show to which address a name
 * resolves. Browsers and Workers restrict private networks themselves.
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

/** Rejects with `LocalError` `sign_in_required`, because nothing can listen for a redirect here. */
export function loopbackSignIn(): SignIn {
  const message =
    "The user must sign in, and this runtime cannot listen for the redirect. Set the option signIn of oauth.";
  return { prepare: () => Promise.reject(new LocalError("sign_in_required", message)) };
}
