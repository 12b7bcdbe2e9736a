/**
 * Returns whether a host is this machine: `localhost`, an address in 127.0.0.0/8, or `::1` with or without brackets.
 *
 * This is the rule of the library, which does not export it. Names below `localhost` are not included, because some
 * systems send them to DNS.
 */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}
