import { isSecureUrl } from "../../net/loopback.ts";
import type { Implementation } from "../../mcp/capabilities.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { TransportFactory } from "../connect/transports.ts";
import type { ClientCore } from "../core.ts";

/**
 * Removes the icons that are unsafe to fetch. It keeps data URIs, and https, and http on this machine, if they are of the
 * server's origin (basic, `icons`). Without an `origin`, as on stdio, any origin is accepted. The content of the remaining
 * icons is still untrusted.
 */
function withSafeIcons<T extends { icons?: unknown }>(
  thing: T,
  origin: string | undefined,
  leftOut: (icon: unknown) => void = () => {},
): T {
  const { icons } = thing;
  if (!Array.isArray(icons)) return thing;
  const safeIcons = icons.filter((icon) => {
    const isKept = isSafe(icon, origin);
    if (!isKept) leftOut(icon);
    return isKept;
  });
  return safeIcons.length === icons.length ? thing : { ...thing, icons: safeIcons };
}

/** Returns an entry of a list without unsafe icons. Each one that is left out is reported. */
export function listedWithSafeIcons(
  { transports, report }: Pick<ClientCore, "transports" | "report">,
  method: string,
  entry: JsonObject,
): JsonObject {
  // Most entries have no icons.
  if (!Array.isArray(entry.icons)) return entry;
  const origin = originOf(transports);
  return withSafeIcons(entry, origin, (icon) => {
    const excerpt = JSON.stringify(icon)?.slice(0, 200);
    const why = origin === undefined ? "" : `, or is not of the origin ${origin}`;
    const message = `An icon of ${method} was left out, since its URI is neither https nor data${why}: ${excerpt}`;
    report(new LocalError("invalid_message", message));
  });
}

/** Returns the description of a server without unsafe icons. */
export function infoWithSafeIcons(info: Implementation, transports: TransportFactory): Implementation {
  return withSafeIcons(info, originOf(transports));
}

/** Returns the origin of a server over HTTP. */
function originOf({ kind, target }: TransportFactory): string | undefined {
  return kind === "http" && URL.canParse(target) ? new URL(target).origin : undefined;
}

function isSafe(icon: unknown, origin: string | undefined): boolean {
  if (!isObject(icon) || typeof icon.src !== "string" || !URL.canParse(icon.src)) return false;
  const url = new URL(icon.src);
  return url.protocol === "data:" || (isSecureUrl(url) && (origin === undefined || url.origin === origin));
}
