import { BlockList, isIP } from "node:net";
import { redact } from "mcparley";
import { UsageError } from "../../terminal/io.ts";

/** The address of an endpoint in the format of OpenAI's chat completions. */
export interface BaseUrl {
  /** The URL before `/chat/completions`, without a slash at its end. */
  readonly href: string;
  readonly origin: string;
  /** Origin and path as they may be shown. */
  readonly displayText: string;
}

/**
 * Checks the address of an endpoint.
 *
 * Throws `UsageError` for an address that is not http or https, that contains secrets, or that would send a key without
 * encryption to a public host. `where` names the option or the setting that has the address.
 */
export function readBaseUrl(text: string, where: string, sendsKey: boolean): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text is not shown, because it may contain a password.
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${where} is not a URL with http or https.`, `Write it like ${example}.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(
      `${where} contains a user name or a password.`,
      "Leave them out. Name the variable that has the key with --api-key-env NAME.",
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw new UsageError(`${where} contains a query or a fragment.`, `Write only the path, like ${example}.`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith("/chat/completions")) {
    const base = redact(url.origin + path.slice(0, -"/chat/completions".length));
    throw new UsageError(`${where} is the address of one method.`, `Leave out its end: ${base}`);
  }
  if (sendsKey && url.protocol === "http:" && !isPrivateHost(url.hostname)) {
    throw new UsageError(
      `${where} would send the key to ${url.host} without encryption.`,
      `Use https://${url.host}, or leave out --api-key-env if the endpoint needs no key.`,
    );
  }
  const href = url.origin + path;
  return { href, origin: url.origin, displayText: redact(href) };
}

const example = "http://127.0.0.1:8080/v1";

/** Addresses that are not on the public Internet. */
const privateAddresses = new BlockList();
for (const [address, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
] as const) {
  privateAddresses.addSubnet(address, prefix, "ipv4");
}
privateAddresses.addAddress("::1", "ipv6");
privateAddresses.addSubnet("fc00::", 7, "ipv6");
privateAddresses.addSubnet("fe80::", 10, "ipv6");

/** Returns whether a host is this machine or in a private network, by its address or its name. No name is resolved. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const version = isIP(host);
  if (version !== 0) return privateAddresses.check(host, version === 4 ? "ipv4" : "ipv6");
  return !host.includes(".") || /\.(?:localhost|local|internal|lan|home\.arpa)$/i.test(host);
}
