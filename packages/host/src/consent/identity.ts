import path from "node:path";
import { domainToUnicode } from "node:url";
import { LocalError, redact } from "mcparley";
import type { CommandTarget, HttpTarget } from "mcparley/client";
import type { ServerTarget } from "../values/server-target.ts";
import { hashOfJson } from "./canonical.ts";
import { findExecutable } from "./executable.ts";
import { remarkOn } from "./text/remarks.ts";
import type { ServerIdentity } from "../renderer/trust.ts";

/** A server with the identity to which trust is bound. */
export interface IdentifiedServer {
  readonly identity: ServerIdentity;
  /** SHA-256 over the identity, with the parts of the URL that are not shown. */
  readonly hash: string;
  /** Remarks to show, such as confusable characters in the URL. */
  readonly remarks: readonly string[];
}

/** Replaces a value that looks like a secret. */
const hidden = "…";
const secretName = /key|token|secret|passw|pwd|auth|sig|code|credential|session|jwt/i;
/** A long value of letters and digits without words, such as a key or an id. */
const randomText = /^(?=.*\d)(?=.*[A-Za-z])[\w.~+=%-]{16,}$/;

/**
 * Returns the identity of a server: its command, arguments, working directory, names of variables and executable, or its URL and
 * names of headers. Values of variables and headers are not part of it, because tokens in them change.
 */
export async function identityOf(
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
    environment: Object.keys(target.env ?? {}).toSorted(),
  };
  const remarks = command.flatMap(
    (text, index) => remarkOn(text, index === 0 ? "The command" : `Argument ${index}`, index === 0) ?? [],
  );
  if (executable === undefined)
    remarks.push("The executable was not found. The program that starts later is not known.");
  return { identity, hash: hashOfJson(identity), remarks };
}

function identityOfUrl(target: Pick<HttpTarget, "url" | "headers">): IdentifiedServer {
  const url = parsedUrl(target.url);
  const headers = Object.keys(target.headers ?? {}).map((name) => name.toLowerCase());
  // The fragment is not sent.
  url.hash = "";
  const identity: ServerIdentity = { kind: "url", url: shownUrl(url), headers: headers.toSorted() };
  return { identity, hash: hashOfJson({ ...identity, url: url.href }), remarks: remarksOnUrl(url) };
}

function parsedUrl(text: string | URL): URL {
  try {
    return new URL(text);
  } catch (cause) {
    const shown = JSON.stringify(redact(String(text)));
    throw new LocalError(
      "invalid_target",
      `${shown} is not a URL of a server. Use one such as "https://example.com/mcp".`,
      { cause },
    );
  }
}

/** Returns the URL without user name and password, and without values that look like secrets. */
function shownUrl(url: URL): string {
  const parts = url.pathname.split("/").map((part) => (randomText.test(part) ? hidden : part));
  const query = url.search
    .slice(1)
    .split("&")
    .map((pair) => {
      const [name = "", ...value] = pair.split("=");
      const isSecret = secretName.test(name) || randomText.test(value.join("="));
      if (value.length === 0) return randomText.test(name) ? hidden : name;
      return isSecret ? `${name}=${hidden}` : pair;
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
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !isLoopback) remarks.push("The connection is not encrypted.");
  if (url.username !== "" || url.password !== "")
    remarks.push("The URL contains a user name or a password, which is not shown.");
  return remarks;
}
