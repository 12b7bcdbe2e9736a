import type { RequestHead, ResponseHeaders } from "../../http/exchange.ts";
import type { PublicDocument } from "../../http/server/server-auth.ts";
import type { JsonObject } from "../../rpc/messages.ts";

const headers: ResponseHeaders = {
  "content-type": "application/json",
  "cache-control": "public, max-age=3600",
  // Pages of any origin may read it: it is how they learn where to sign in.
  "access-control-allow-origin": "*",
};

/** Serves the metadata of a resource at its paths (RFC 9728, 3). */
export function publish(
  metadata: JsonObject,
  paths: readonly string[],
): (request: RequestHead) => PublicDocument | undefined {
  const body = JSON.stringify(metadata);
  const found: PublicDocument = { status: 200, headers, body };
  const head: PublicDocument = { status: 200, headers };
  const preflight: PublicDocument = {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET",
      "access-control-allow-headers": "*",
      "access-control-max-age": "7200",
    },
  };
  const other: PublicDocument = { status: 405, headers: { allow: "GET, HEAD, OPTIONS" } };
  const byMethod = new Map([
    ["GET", found],
    ["HEAD", head],
    ["OPTIONS", preflight],
  ]);
  return ({ method, path }) => (paths.includes(path) ? (byMethod.get(method) ?? other) : undefined);
}
