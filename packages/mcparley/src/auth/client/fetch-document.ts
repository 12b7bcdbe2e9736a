import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";

/** Gets a JSON document. Undefined where there is none: another status than 200, or a body that is no JSON object. */
export async function fetchDocument(
  fetch: GuardedFetch,
  url: URL,
  { headers, signal }: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal | undefined },
): Promise<JsonObject | undefined> {
  const response = await fetch(url.href, {
    headers: { accept: "application/json", ...headers },
    ...(signal && { signal }),
  });
  if (response.status !== 200) {
    if (response.status < 500) return undefined;
    const message = `${url.origin}${url.pathname} answered with ${response.status}; try again later.`;
    throw new LocalError("unreachable", message, { data: { host: url.host, status: response.status } });
  }
  try {
    const value: unknown = await response.json();
    return isObject(value) ? value : undefined;
  } catch {
    // Servers that answer every path give their web page here.
    return undefined;
  }
}
