import { LocalError } from "../../rpc/errors.ts";
import type { HttpRequestHead } from "../exchange.ts";
import type { HttpOptions, HttpServerAuth, PublicResponse } from "./options.ts";

/** The entry of a list that checked a request. */
export const checkedBy: WeakMap<HttpRequestHead, HttpServerAuth> = new WeakMap<HttpRequestHead, HttpServerAuth>();

/** Returns the option `auth` as a list. Throws `LocalError` `invalid_definition` for an empty list, or a wrong entry. */
export function readAuth(auth: HttpOptions["auth"]): readonly HttpServerAuth[] {
  if (typeof auth === "function") return [{ authenticate: auth }];
  if (auth === undefined) return [];
  const list: readonly Partial<HttpServerAuth>[] = isAuthList(auth) ? auth : [auth];
  const isWhole = (entry: Partial<HttpServerAuth>): boolean =>
    typeof Object(entry).authenticate === "function" && (list !== auth || typeof entry.match === "function");
  if (list.length > 0 && list.every(isWhole)) return list as readonly HttpServerAuth[];
  const kind = list === auth ? 'A list in "auth" needs entries with `match` and' : '"auth" needs';
  throw new LocalError("invalid_definition", `${kind} \`authenticate\`, such as bearer(...).`);
}

export function isAuthList(auth: HttpOptions["auth"]): auth is readonly HttpServerAuth[] {
  return Array.isArray(auth);
}

/** Returns the public document at the path of a request, of the first entry that has one. */
export function documentAt(auths: readonly HttpServerAuth[], request: HttpRequestHead): PublicResponse | undefined {
  for (const auth of auths) {
    const document = auth.document?.(request);
    if (document) return document;
  }
  return undefined;
}
