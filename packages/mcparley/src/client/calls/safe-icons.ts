import { isSecureUrl } from "../../net/loopback.ts";
import { isObject } from "../../rpc/messages.ts";

/**
 * Leaves out the icons of a thing that must not be fetched: all but those at https and data URIs, and at http on this
 * machine (basic, `icons`). Whoever shows the rest must still treat what they point to as untrusted.
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
