import { isRegex } from "./regex-syntax.ts";

/**
 * The values of `format` that are asserted. Each check takes time linear in the length of the text, and no pattern repeats a
 * group: V8 stores each repetition, and throws when a text of megabytes has too many. All other formats, such as the
 * internationalized ones, are only annotations.
 */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  "date-time": (text) => /^.{10}[Tt]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
  duration: matching(
    /^P(?!$)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?=\d)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/,
  ),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uri: (text) => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && isUriReference(text),
  "uri-reference": isUriReference,
  "uri-template": isUriTemplate,
  uuid: matching(/^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/),
  regex: isRegex,
  "json-pointer": isJsonPointer,
  "relative-json-pointer": isRelativeJsonPointer,
};

/** Steps that a check takes for each character, if they are more than an eighth: these formats are read part by part. */
export const formatSteps: Readonly<Record<string, number>> = { regex: 3, "uri-template": 1 };

function matching(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

/** A full date of RFC 3339 that exists in the calendar. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // Date moves the 31st of a shorter month to the next month.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** A full time of RFC 3339. The second 60 is allowed only for a leap second, at the end of a day in UTC. */
function isTime(text: string): boolean {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text);
  if (!parts) return false;
  const [hour, minute, second] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const [offsetHour, offsetMinute] = [Number(parts[5] ?? 0), Number(parts[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (parts[4] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  return (hour * 60 + minute - offset + 2 * 1440) % 1440 === 1439;
}

/** A mailbox of RFC 5321. */
function isEmail(text: string): boolean {
  const separator = text.lastIndexOf("@");
  if (separator < 1 || separator > 64) return false;
  const [local, domain] = [text.slice(0, separator), text.slice(separator + 1)];
  const isAtoms = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(local);
  if (!isAtoms && !/^"(?:[ !#-[\]-~]|\\[ -~])*"$/.test(local)) return false;
  const [, address] = /^\[(.*)\]$/.exec(domain) ?? [];
  if (address === undefined) return isHostname(domain);
  return address.startsWith("IPv6:") ? isIpv6(address.slice(5)) : isIpv4(address);
}

function isHostname(text: string): boolean {
  if (text.length > 253) return false;
  return text.split(".").every((label) => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label));
}

function isIpv4(text: string): boolean {
  const parts = text.split(".", 5);
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const [head = "", tail, more] = text.split("::", 3);
  if (more !== undefined) return false;
  const groups = [...groupsOf(head), ...groupsOf(tail ?? "")];
  const last = groups.at(-1) ?? "";
  const hasIpv4 = last.includes(".");
  if (hasIpv4 && (!isIpv4(last) || tail === "")) return false;
  const count = groups.length + (hasIpv4 ? 1 : 0);
  const hexadecimal = hasIpv4 ? groups.slice(0, -1) : groups;
  if (!hexadecimal.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))) return false;
  return tail === undefined ? count === 8 : count < 8;
}

function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":");
}

/** A URI reference of RFC 3986: only characters that may occur, and brackets only around an IP address. */
function isUriReference(text: string): boolean {
  const parts = /^(?:([^:/?#]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  if (!parts) return false;
  const [, scheme, authority = "", path = "", query = "", fragment = ""] = parts;
  if (scheme !== undefined && !/^[A-Za-z][A-Za-z0-9+.-]*$/.test(scheme)) return false;
  const [, user = "", host = ""] = /^(?:(.*)@)?(.*)$/s.exec(authority) ?? [];
  const [, literal, port] = /^\[([^\]]*)\](.*)$/.exec(host) ?? [];
  if (literal === undefined ? !/^[^:]*(?::\d*)?$/.test(host) || !isAllowed(host) : !isIpLiteral(literal, port ?? ""))
    return false;
  return [user, path, query, fragment].every((part) => isAllowed(part)) && !user.includes("@");
}

/** Returns whether a part of a URI contains only percent-encoded triplets and characters that need no encoding. */
function isAllowed(part: string): boolean {
  return !/[^\w.~!$&'()*+,;=:@/?%-]|%(?![0-9A-Fa-f]{2})/.test(part);
}

/** A URI template of RFC 6570. The operators and variables of its expressions are not checked. */
function isUriTemplate(text: string): boolean {
  // A hyphen in place of an expression separates the characters around it.
  const literals = text.replaceAll(/\{[^\s{}"'<>\\^`]+\}/g, "-");
  return !/[\s"'<>\\^`{|}]|%(?![0-9A-Fa-f]{2})/.test(literals);
}

/** A JSON pointer of RFC 6901. */
function isJsonPointer(text: string): boolean {
  return (text === "" || text.startsWith("/")) && !/~(?![01])/.test(text);
}

function isRelativeJsonPointer(text: string): boolean {
  const [levels] = /^(?:0|[1-9]\d*)/.exec(text) ?? [];
  if (levels === undefined) return false;
  const pointer = text.slice(levels.length);
  return pointer === "#" || isJsonPointer(pointer);
}

function isIpLiteral(address: string, port: string): boolean {
  return (isIpv6(address) || /^v[0-9A-Fa-f]+\.[\w.~!$&'()*+,;=:-]+$/.test(address)) && /^(?::\d*)?$/.test(port);
}
