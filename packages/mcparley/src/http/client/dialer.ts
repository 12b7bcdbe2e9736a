import type { Dialer } from "../../client/connect/transports.ts";
import { type HttpTarget, nameOf, readHttpTarget } from "./settings.ts";
import { HttpTransport } from "./transport.ts";

export type { HttpAuth, HttpAuthRefusal, HttpAuthRequest, HttpClientLimits, HttpTarget } from "./settings.ts";

/**
 * Says how to speak with an MCP endpoint on the web. All transports that it opens share one authorization.
 *
 * Throws `LocalError` `invalid_target` for a URL or a header that cannot be used.
 */
export function httpDialer(target: HttpTarget): Dialer {
  const settings = readHttpTarget(target);
  return {
    kind: "http",
    target: nameOf(settings.url),
    extension: target.auth?.extension,
    open: () => new HttpTransport(settings),
    async openOlder({ refused, signal }) {
      if (refused && !(refused instanceof HttpTransport && refused.mayBeHttpSse)) return undefined;
      const { openHttpSse } = await import("./open-http-sse.ts");
      return openHttpSse(settings, signal);
    },
  };
}
