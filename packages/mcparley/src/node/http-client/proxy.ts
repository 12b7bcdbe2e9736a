import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
import type { HttpConnection } from "../../http/client/settings.ts";
import { isLoopback } from "../../net/loopback.ts";
import { LocalError } from "../../rpc/errors.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A proxy that requests are sent through. */
export interface Proxy {
  /** Its URL without user and password. */
  readonly url: URL;
  /** The value of `Proxy-Authorization`. Undefined if the URL contained no user. */
  readonly authorization: string | undefined;
  /** The option or environment variable that names it, for errors: `connection.proxy` or `HTTPS_PROXY`. */
  readonly setting: string;
}

/**
 * Returns the proxy for requests to a URL. Returns undefined for a direct connection.
 *
 * `setting` has precedence: a URL applies to every host, and `false` to none. With undefined the environment decides:
 * `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`. A name in lower case has precedence, and an empty value counts as
 * not set. The environment never applies to loopback addresses, because a proxy cannot reach the servers of this machine.
 *
 * Throws `LocalError` `invalid_target` for a value that is no http or https URL. The value is not in the error.
 */
export function proxyFor(url: URL, setting: HttpConnection["proxy"], env: Environment): Proxy | undefined {
  if (setting === false) return undefined;
  if (setting !== undefined) return readProxy(String(setting), "connection.proxy");
  if (isLoopback(url.hostname)) return undefined;
  const scheme = url.protocol === "https:" ? "https" : "http";
  const [name, value] = ownVariable(scheme, env) ?? variable("all_proxy", env) ?? [];
  if (name === undefined || value === undefined) return undefined;
  const [, exceptions = ""] = variable("no_proxy", env) ?? [];
  return isExcepted(url, exceptions) ? undefined : readProxy(value, name);
}

type Variable = readonly [name: string, value: string];

function ownVariable(scheme: "http" | "https", env: Environment): Variable | undefined {
  // A CGI program receives the request header "Proxy" as HTTP_PROXY, so any client could choose the proxy ("httpoxy"). On
  // Windows the names of variables have no case.
  const isCgi = scheme === "http" && env.REQUEST_METHOD !== undefined;
  if (!isCgi) return variable(`${scheme}_proxy`, env);
  return process.platform !== "win32" && env.http_proxy ? ["http_proxy", env.http_proxy] : undefined;
}

function variable(name: string, env: Environment): Variable | undefined {
  const variableName = [name, name.toUpperCase()].find((one) => env[one]);
  return variableName === undefined ? undefined : [variableName, env[variableName] ?? ""];
}

/** Reads the URL of a proxy. Without a scheme it is http, as in curl. */
function readProxy(text: string, setting: string): Proxy {
  const value = text.trim();
  const full = value.includes("://") ? value : `http://${value}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  const form = "http://proxy.example.com:3128";
  if (!url || url.hostname === "" || url.search !== "" || url.hash !== "" || !/^\/?$/.test(url.pathname)) {
    // The value is not shown: a password with an unencoded character makes the URL invalid.
    throw invalidProxy(
      `${setting} is not the URL of a proxy. Set it to a URL such as ${form}; encode special characters in a password, such as %23 for #.`,
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    const scheme = JSON.stringify(url.protocol.slice(0, -1));
    throw invalidProxy(`${setting} has the protocol ${scheme}. Set it to an http or https proxy, such as ${form}.`);
  }
  const { username, password } = url;
  url.username = "";
  url.password = "";
  if (username === "" && password === "") return { url, authorization: undefined, setting };
  const credentials = `${decodeUserInfo(username)}:${decodeUserInfo(password)}`;
  return { url, authorization: `Basic ${Buffer.from(credentials).toString("base64")}`, setting };
}

/** Decodes a part of a URL. A `%` that encodes nothing is kept. */
function decodeUserInfo(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (triplets) => {
    try {
      return decodeURIComponent(triplets);
    } catch {
      return triplets;
    }
  });
}

function invalidProxy(message: string): LocalError {
  return new LocalError("invalid_target", message);
}

/** Returns the hostname of a URL without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Returns the port of a URL, or that of its protocol. */
export function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** The host and port of a URL, as `NO_PROXY` is compared with them. */
interface Destination {
  /** Without brackets and without a final dot. */
  readonly host: string;
  readonly port: string;
}

/** Returns whether `NO_PROXY` lists the destination of a URL. Its entries are separated by commas or spaces. */
function isExcepted(url: URL, list: string): boolean {
  const host = hostOf(url).replace(/\.$/, "");
  const port = String(portOf(url));
  return list.split(/[\s,]+/).some((entry) => entry !== "" && matches(entry, { host, port }));
}

/**
 * Returns whether an entry of `NO_PROXY` includes a destination.
 *
 * curl, Go and Python agree about `*` and about names, which include the names below them. The rest is in some of them: an
 * initial dot or `*.` changes nothing (curl, Python), and a port, an IP address and a CIDR block are compared as in Go. Names
 * are never resolved. An invalid entry matches nothing.
 */
function matches(entry: string, { host, port }: Destination): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInBlock(entry, host);
  const [, bracketedHost, plain, ownPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  if (ownPort !== undefined && ownPort !== port) return false;
  // An IPv6 address without brackets has no port.
  const entryHost = bracketedHost ?? plain ?? entry;
  if (isIP(entryHost) !== 0 || isIP(host) !== 0) return isInBlock(entryHost, host);
  const name = domainToASCII(entryHost.replace(/^\*?\./, "").replace(/\.$/, ""));
  return name !== "" && (host === name || host.endsWith(`.${name}`));
}

/** Returns whether a host is an IP address in a block: `10.0.0.0/8`, or a single address. IPv4-mapped IPv6 is IPv4. */
function isInBlock(block: string, host: string): boolean {
  const [address = "", bits] = block.split("/");
  const [version, ownVersion] = [isIP(address), isIP(host)];
  if (version === 0 || ownVersion === 0) return false;
  const list = new BlockList();
  const length = bits === undefined ? (version === 4 ? 32 : 128) : Number(bits);
  if (bits === "" || !Number.isInteger(length) || length < 0 || length > (version === 4 ? 32 : 128)) return false;
  list.addSubnet(address, length, version === 4 ? "ipv4" : "ipv6");
  return list.check(host, ownVersion === 4 ? "ipv4" : "ipv6");
}
