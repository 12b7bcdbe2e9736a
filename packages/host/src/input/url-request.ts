import { isIP } from "node:net";
import { domainToUnicode } from "node:url";
import type { ElicitUrlParams } from "mcparley";
import type { InputOrigin, UrlRequest } from "../renderer/elicitation.ts";

/**
 * Returns the request to visit a page, with remarks about its host.
 *
 * The client has already refused a URL that is neither https nor http on this machine, or that has a user name or password.
 * `serverHost` is the host name of the server's own URL, if it has one.
 */
export function urlRequest(
  { message, url }: ElicitUrlParams,
  origin: InputOrigin,
  serverHost: string | undefined,
): UrlRequest {
  const parsed = new URL(url);
  return {
    origin,
    message,
    // The serialized URL is ASCII: the host is Punycode, and other characters are percent-encoded.
    url: parsed.href,
    host: parsed.host,
    remarks: [...nameRemarks(parsed.hostname), ...addressRemarks(parsed), ...serverRemarks(parsed, serverHost)],
  };
}

function nameRemarks(hostname: string): string[] {
  if (!/(^|\.)xn--/.test(hostname)) return [];
  const unicode = domainToUnicode(hostname);
  const mixed = unicode.split(".").filter((label) => scriptsOf(label).length > 1);
  return [
    `The host has letters that can look like other letters. It is displayed as ${JSON.stringify(unicode)}.`,
    ...mixed.map((label) => `${JSON.stringify(label)} mixes letters of the scripts ${scriptsOf(label).join(" and ")}.`),
  ];
}

function addressRemarks({ protocol, hostname, port }: URL): string[] {
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
  return [
    ...(protocol === "http:" ? ["The page is on this machine, and the connection is not encrypted."] : []),
    ...(isAddress ? ["The host is an IP address, and not a name."] : []),
    ...(port === "" ? [] : [`The port ${port} is not the usual one.`]),
  ];
}

function serverRemarks({ hostname }: URL, serverHost: string | undefined): string[] {
  if (serverHost === undefined || serverHost === hostname) return [];
  return [`The host differs from the host of the server, ${JSON.stringify(serverHost)}.`];
}

/** Scripts with letters that look like Latin letters, and others that are common in host names. */
const scripts = ["Latin", "Cyrillic", "Greek", "Armenian", "Hebrew", "Arabic", "Cherokee", "Thai", "Devanagari"].map(
  (name) => ({ name, pattern: new RegExp(`\\p{Script=${name}}`, "u") }),
);

const asian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;

function scriptsOf(label: string): string[] {
  const found = scripts.filter(({ pattern }) => pattern.test(label)).map(({ name }) => name);
  // Names in these scripts are often written together with Latin letters, so their mixture is not remarkable.
  return asian.test(label) ? found.filter((name) => name !== "Latin").concat("an East Asian script") : found;
}
