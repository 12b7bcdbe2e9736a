import { isSecureUrl } from "../../net/loopback.ts";
import { isObject } from "../../rpc/messages.ts";
import type { TransportFactory } from "../connect/transports.ts";

/**
 * Removes the icons that are unsafe to fetch. It keeps data URIs, and https, and http on this machine, if they are of the
 * server's origin (basic, `icons`). Without an `origin`, as on stdio, any origin is accepted. The content of the remaining
 * icons is still untrusted.
 */
export function withSafeIcons<T extends object>(
  thing: T,
  origin: string | undefined,
  leftOut: (icon: unknown) => void = () => {},
): T {
  const { icons } = thing as { icons?: unknown };
  if (!Array.isArray(icons)) return thing;
  const kept = (icons as unknown[]).filter((icon) => {
    const isKept = isSafe(icon, origin);
    if (!isKept) leftOut(icon);
    return isKept;
  });
  return kept.length === icons.length ? thing : { ...thing, icons: kept };
}

/** Returns the origin of a server over HTTP. */
export function originOf({ kind, target }: TransportFactory): string | undefined {
  return kind === "http" && URL.canParse(target) ? new URL(target).origin : undefined;
}

function isSafe(icon: unknown, origin: string | undefined): boolean {
  if (!isObject(icon) || typeof icon.src !== "string" || !URL.canParse(icon.src)) return false;
  const url = new URL(icon.src);
  return url.protocol === "data:" || (isSecureUrl(url) && (origin === undefined || url.origin === origin));
}
