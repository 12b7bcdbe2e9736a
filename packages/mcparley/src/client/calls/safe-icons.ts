import { isSecureUrl } from "../../net/loopback.ts";
import { isObject } from "../../rpc/messages.ts";

/**
 * Removes the icons that are unsafe to fetch. It keeps https and data URIs, and http on this machine (basic, `icons`).
 * The content of the remaining icons is still untrusted.
 */
export function withSafeIcons<T extends object>(thing: T, leftOut: (icon: unknown) => void = () => {}): T {
  const { icons } = thing as { icons?: unknown };
  if (!Array.isArray(icons) || icons.every(isSafe)) return thing;
  for (const icon of icons as unknown[]) if (!isSafe(icon)) leftOut(icon);
  return { ...thing, icons: icons.filter(isSafe) };
}

function isSafe(icon: unknown): boolean {
  if (!isObject(icon) || typeof icon.src !== "string" || !URL.canParse(icon.src)) return false;
  const url = new URL(icon.src);
  return url.protocol === "data:" || isSecureUrl(url);
}
