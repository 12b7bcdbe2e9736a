const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/**
 * Returns whether a host is this machine: `localhost`, an address in 127.0.0.0/8, or `::1` with or without brackets.
 *
 * `host` is the hostname of a URL, or a `Host` header without its port. It is never resolved.
 *
 * Names below `localhost`, such as `app.localhost`, are not included. According to RFC 6761, resolvers should answer them
 * with a loopback address. Browsers do, but many systems send them to DNS. An attacker who controls DNS could then receive
 * the credentials in a request to `http://app.localhost`, or rebind the name to reach a local server from a web page. A
 * server that must answer such a name lists it in `allowedHosts`.
 */
export function isLoopback(host: string): boolean {
  return loopback.test(host);
}

/** Returns whether requests to a URL are protected from the network: https, or http on this machine. */
export function isSecureUrl({ protocol, hostname }: Pick<URL, "protocol" | "hostname">): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}
