import { matchesGlob } from "@mcparley/internal/glob";
import type { Decision } from "./policy.ts";

/**
 * Returns whether the pattern of a rule matches the text of an argument.
 *
 * A wildcard of an `allow` rule must not match more than the user can mean: no path that leaves the folder before the wildcard, no text after a
 * NUL character, which some programs do not read, and no other host than the one in the pattern of a URL.
 */
export function matchesArgument(decision: Decision, pattern: string, text: string): boolean {
  if (decision !== "allow" || pattern === "*" || !pattern.includes("*")) return matchesGlob(pattern, text);
  const plainText = plainForm(text);
  if (plainText === undefined || /\0|\\u0000/.test(plainText) || hasParentSegment(plainText)) return false;
  const url = partsOfUrl(pattern);
  return url ? matchesUrl(url, partsOfUrl(text)) : matchesGlob(pattern, text);
}

/** Maximum rounds of percent-encoding that are decoded. A text with more of them is not matched. */
const maxRounds = 8;

/** Returns a text without percent-encoding, also if it is encoded several times, and with ASCII for the characters that look like it. */
function plainForm(text: string): string | undefined {
  let plainText = text;
  for (let round = 0; round <= maxRounds; round++) {
    const decodedText = decodeOnce(plainText.normalize("NFKC").replace(/\p{Cf}/gu, ""));
    if (decodedText === plainText) return plainText;
    plainText = decodedText;
  }
  return undefined;
}

/** Decodes percent-encoding, also the overlong forms of `.`, `/` and `\`, and the form `%uXXXX`, which some servers read. */
function decodeOnce(text: string): string {
  if (!text.includes("%"))
    return text.replaceAll(/[\u2044\u2215\u29f8]/g, "/").replaceAll(/[\u2216\u29f5\u29f9]/g, "\\");
  return text
    .replaceAll(/%(?:c0%ae|e0%80%ae)/gi, ".")
    .replaceAll(/%(?:c0%af|e0%80%af)/gi, "/")
    .replaceAll(/%(?:c1%9c|e0%81%9c)/gi, "\\")
    .replaceAll(/%u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString());
}

/**
 * Whether a text has a path segment `..`, also within the JSON of an array. Windows ignores spaces and further dots at the end of a segment,
 * and some servers a part after a semicolon.
 */
function hasParentSegment(text: string): boolean {
  return text.split(/[/\\?#;:"'=,&|()[\]{}<>\0]/).some((segment) => /(?:^|\s)\.[.\s]*\.(?:\s|$)/.test(segment));
}

/** The parts of a text that has the form of a URL, or of a pattern. The authority ends where a program that reads the URL ends it. */
interface UrlParts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
}

function partsOfUrl(text: string): UrlParts | undefined {
  const [, scheme, authority, path] = /^([^/:?#\\]*):\/\/([^/?#\\]*)(.*)$/s.exec(text) ?? [];
  if (scheme === undefined || authority === undefined || path === undefined) return undefined;
  return { scheme, authority, path };
}

/** The scheme and the host have no user, and no character that ends a host in some programs. */
function matchesUrl(pattern: UrlParts, url: UrlParts | undefined): boolean {
  if (!url || !/^[a-z][\w+.-]*$/i.test(url.scheme) || !matchesGlob(pattern.scheme, url.scheme)) return false;
  if (!/^[\p{L}\p{N}._:[\]-]*$/u.test(url.authority) && url.authority !== pattern.authority) return false;
  // A wildcard at the end stands for a port and a path: `https://example.com*` is not meant to match `https://example.com.evil.org`.
  if (pattern.path === "" && pattern.authority.endsWith("*")) {
    const host = pattern.authority.slice(0, -1);
    const form = host.endsWith(":") ? /^\d*$/ : /^(?::\d*)?$/;
    return host === "" || (url.authority.startsWith(host) && form.test(url.authority.slice(host.length)));
  }
  return matchesGlob(pattern.authority, url.authority) && matchesGlob(pattern.path, url.path);
}
