import path from "node:path";
import { domainToUnicode } from "node:url";
import { LocalError, redact } from "mcparley";
import type { CommandTarget, HttpTarget } from "mcparley/client";
import type { ServerTarget } from "../values/types.ts";
import { findExecutable } from "@mcparley/internal/find-executable";
import { isLoopback } from "@mcparley/internal/loopback";
import { randomText, safeUrl, shownValue, shownVariable } from "@mcparley/internal/secret-values";
import { withSortedMembers } from "@mcparley/internal/sorted-members";
import { hashOfJson } from "./canonical.ts";
import { remarkOn } from "./text/remarks.ts";
import type { ConfiguredEntry, ServerIdentity } from "../renderer/renderer.ts";

/** A server with the identity to which trust is bound. */
export interface IdentifiedServer {
  readonly identity: ServerIdentity;
  /** SHA-256 over the identity, with the parts of the URL that are not shown. For a configured entry, an HMAC of its digest. */
  readonly hash: string;
  /** Remarks to show, such as confusable characters in the URL. */
  readonly remarks: readonly string[];
}

/** Replaces a value that looks like a secret. */
const ellipsis = "…";
/** Query parameters whose values are secret. Unlike in the names of variables, a part of a word is enough: `sig` and `code` sign a URL. */
const secretParameter = /key|token|secret|passw|pwd|auth|sig|code|credential|session|jwt/i;

/** A server before its identity is determined. */
export interface ServerSubject {
  /** The name of the server in the host. */
  readonly server: string;
  readonly target: ServerTarget;
  /** The entry of a configuration file from which the target comes. */
  readonly entry?: ConfiguredEntry | undefined;
}

/**
 * Returns the identity of a target that the program has written: its command, arguments, working directory, names of variables and
 * executable, or its URL and names of headers. Values of variables and headers are not part of the hash, because tokens in them change.
 */
export async function identityOfTarget(
  target: ServerTarget,
  env: Readonly<Record<string, string | undefined>>,
): Promise<IdentifiedServer> {
  if (typeof target === "string" || target instanceof URL) return identityOfUrl({ url: target });
  if ("command" in target) return identityOfCommand(target, env);
  if ("url" in target) return identityOfUrl(target);
  const name = typeof target.name === "string" ? target.name : undefined;
  const identity: ServerIdentity = { kind: "in-process", ...(name !== undefined && { name }) };
  return { identity, hash: hashOfJson(identity), remarks: [] };
}

async function identityOfCommand(
  target: CommandTarget,
  env: Readonly<Record<string, string | undefined>>,
): Promise<IdentifiedServer> {
  // Also if the target has none: `node server.js` is another program in another folder.
  const cwd = path.resolve(target.cwd ?? "");
  const search = { command: target.command, cwd, env: { ...env, ...target.env }, platform: process.platform };
  const executable = await findExecutable(search);
  const command = [target.command, ...(target.args ?? [])];
  const identity: ServerIdentity = {
    kind: "command",
    command,
    ...(executable !== undefined && { executable }),
    cwd,
    environment: shownTable(target.env, shownVariable),
  };
  const remarks = remarksOnCommand(command);
  if (executable === undefined)
    remarks.push("The executable was not found. The program that starts later is not known.");
  return { identity, hash: hashOfNames(identity), remarks };
}

/** Returns the identity of an entry of a configuration file. `hash` is an HMAC of its digest. */
export function identityOfEntry({ digest: _digest, ...entry }: ConfiguredEntry, hash: string): IdentifiedServer {
  const url = entry.url !== undefined && URL.canParse(entry.url) ? new URL(entry.url) : undefined;
  const identity: ServerIdentity = {
    ...entry,
    ...(entry.environment && { environment: shownTable(entry.environment, shownVariable) }),
    ...(entry.headers && { headers: shownTable(entry.headers) }),
    // A URL with a reference in its host cannot be parsed.
    ...(entry.url !== undefined && { url: url ? shownUrl(url) : safeUrl(entry.url) }),
  };
  return { identity, hash, remarks: [...remarksOnCommand(entry.command ?? []), ...(url ? remarksOnUrl(url) : [])] };
}

function remarksOnCommand(command: readonly string[]): string[] {
  return command.flatMap(
    (text, index) => remarkOn(text, index === 0 ? "The command" : `Argument ${index}`, index === 0) ?? [],
  );
}

/** Returns the values of a table for display, in the order of their names. */
function shownTable(
  table: Readonly<Record<string, string>> = {},
  show: (name: string, value: string) => string = shownValue,
): Record<string, string> {
  const entries = Object.entries(table).map(([name, value]) => [name, show(name, value)] as const);
  return withSortedMembers(Object.fromEntries(entries));
}

/** Returns the hash of an identity with the names of its variables and headers in place of their values. */
function hashOfNames({ environment, headers, ...identity }: ServerIdentity): string {
  return hashOfJson({
    ...identity,
    ...(environment && { environment: Object.keys(environment) }),
    ...(headers && { headers: Object.keys(headers) }),
  });
}

function identityOfUrl(target: Pick<HttpTarget, "url" | "headers">): IdentifiedServer {
  const url = parsedUrl(target.url);
  const headers = Object.entries(target.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  // The fragment is not sent.
  url.hash = "";
  const identity: ServerIdentity = {
    kind: "url",
    url: shownUrl(url),
    headers: shownTable(Object.fromEntries(headers)),
  };
  return { identity, hash: hashOfNames({ ...identity, url: url.href }), remarks: remarksOnUrl(url) };
}

function parsedUrl(text: string | URL): URL {
  try {
    return new URL(text);
  } catch (cause) {
    const label = JSON.stringify(redact(String(text)));
    throw new LocalError(
      "invalid_target",
      `${label} is not a URL of a server. Use one such as "https://example.com/mcp".`,
      { cause },
    );
  }
}

/** Returns the URL without user name and password, and without values that look like secrets. */
function shownUrl(url: URL): string {
  const parts = url.pathname.split("/").map((part) => (randomText.test(part) ? ellipsis : part));
  const query = url.search
    .slice(1)
    .split("&")
    .map((pair) => {
      const [name = "", ...value] = pair.split("=");
      const isSecret = secretParameter.test(name) || randomText.test(value.join("="));
      if (value.length === 0) return randomText.test(name) ? ellipsis : name;
      return isSecret ? `${name}=${ellipsis}` : pair;
    });
  return `${url.protocol}//${url.host}${parts.join("/")}${url.search === "" ? "" : `?${query.join("&")}`}`;
}

function remarksOnUrl(url: URL): string[] {
  const remarks: string[] = [];
  const readable = domainToUnicode(url.hostname);
  if (readable !== "" && readable !== url.hostname) {
    remarks.push(
      `The host "${url.hostname}" is shown as "${readable}" by some programs, and may imitate another host.`,
    );
    const remark = remarkOn(readable, "The readable host", true);
    if (remark !== undefined) remarks.push(remark);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) remarks.push("The connection is not encrypted.");
  if (url.username !== "" || url.password !== "")
    remarks.push("The URL contains a user name or a password, which is not shown.");
  return remarks;
}
