import type { ServerTarget } from "../values/types.ts";

/** Names of settings whose values are secret. */
export const secretName: RegExp =
  /key|token|secret|passw|passphrase|credential|auth|cookie|session|dsn|private|signature|pat$/i;

/** A long word without spaces and slashes that mixes letters and digits, such as a token. */
const tokenLike = /^(?=.*[a-z])(?=.*\d)[\w.~+=:-]{20,}$/i;

/** Headers whose values are never secret. */
const publicHeaders = new Set(["accept", "accept-language", "content-type", "user-agent"]);

/** Returns the secrets in the settings of a server: of its environment, arguments, headers and URL. */
export function secretsOf(target: ServerTarget): string[] {
  if (typeof target === "string" || target instanceof URL) return secretsOfUrl(target);
  if ("command" in target) {
    const env = Object.entries(target.env ?? {});
    return [
      ...env.filter(([name, value]) => secretName.test(name) || tokenLike.test(value)).map(([, value]) => value),
      ...secretArguments(target.args ?? []),
      ...[...env.map(([, value]) => value), ...(target.args ?? [])].flatMap(secretsOfUrlIn),
    ];
  }
  if (!("url" in target)) return [];
  const headers = Object.entries(target.headers ?? {}).filter(([name]) => !publicHeaders.has(name.toLowerCase()));
  return [...secretsOfUrl(target.url), ...headers.flatMap(credentialsIn)];
}

/** Returns the values of arguments such as `--api-key VALUE` and `--token=VALUE`. */
function secretArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const [, flag, value] = /^--?([\w-]+)=(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined && value !== undefined) return secretName.test(flag) ? [value] : [];
    const precedingFlag = /^--?([\w-]+)$/.exec(args[index - 1] ?? "")?.[1];
    return (precedingFlag !== undefined && secretName.test(precedingFlag)) || tokenLike.test(arg) ? [arg] : [];
  });
}

/** Returns the secrets of a value that is a URL, such as that of a database. */
function secretsOfUrlIn(value: string): string[] {
  return value.includes("://") ? secretsOfUrl(value) : [];
}

function secretsOfUrl(target: string | URL): string[] {
  if (!URL.canParse(String(target))) return [];
  const url = new URL(target);
  const query = [...url.searchParams].filter(([name, value]) => secretName.test(name) || tokenLike.test(value));
  const segments = url.pathname.split("/").filter((segment) => tokenLike.test(segment));
  const users = [url.username].filter((name) => tokenLike.test(name));
  return [decodePercent(url.password), ...users, ...query.map(([, value]) => value), ...segments];
}

/** Returns a percent-decoded text, or the text if it is not percent-encoded. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns a header's value, the credentials after its scheme, as in `Bearer VALUE`, their quoted parameters, as in `Token token="VALUE"`,
 * the password of `Basic`, and the values of cookies.
 */
export function credentialsIn([name, value]: readonly [name: string, value: string]): string[] {
  if (name.toLowerCase() === "cookie") return [value, ...value.split(";").map(cookieValue)];
  const [, scheme, credentials] = /^([\w-]+)\s+(\S.*)$/s.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) return [value];
  const parameters = Array.from(credentials.matchAll(/="([^"]+)"/g), ([, parameter = ""]) => parameter);
  return [value, credentials, ...parameters, ...(scheme.toLowerCase() === "basic" ? [passwordIn(credentials)] : [])];
}

function cookieValue(cookie: string): string {
  return cookie.slice(cookie.indexOf("=") + 1).trim();
}

/** Returns the password in the credentials of `Basic`, which are the base64 of `user:password`. */
function passwordIn(credentials: string): string {
  const decodedText = Buffer.from(credentials, "base64").toString();
  return decodedText.slice(decodedText.indexOf(":") + 1);
}
