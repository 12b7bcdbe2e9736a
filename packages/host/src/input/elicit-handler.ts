import { isIP } from "node:net";
import { domainToUnicode } from "node:url";
import { formModel } from "@mcparley/internal/form-model";
import type { ElicitHandler, ElicitParams, ElicitResult, InputRequestSource } from "mcparley/client";
import type { ElicitUrlParams } from "mcparley";
import type { SignInPurpose } from "mcparley/auth";
import type { FormRequest, Renderer, InputOrigin, UrlRequest } from "../renderer/renderer.ts";
import { decide, type InputContext, originOf, withinLimits } from "./input-context.ts";
import type { ActiveCalls } from "../activity/active-calls.ts";

/** Asks the user for each form and URL of a server. `serverHost` is the host name of the server's own URL, if it has one. */
export function elicitHandler(
  context: InputContext,
  renderer: Pick<Renderer, "form" | "url">,
  serverHost: string | undefined,
): ElicitHandler {
  const ask = async (params: ElicitParams, source: InputRequestSource): Promise<ElicitResult> => {
    const { signal } = source;
    const origin = originOf(context, source);
    if (params.mode === "url") {
      const request = urlRequest(params, origin, serverHost);
      // A missing method means no. The client has not declared the capability then.
      const { action } = await context.ask(() => renderer.url?.(request, signal) ?? refusal, signal);
      return { action };
    }
    const request: FormRequest = {
      origin,
      message: params.message,
      ...formModel(params, source.check),
    };
    const answer = await context.ask(() => renderer.form?.(request, signal) ?? refusal, signal);
    return answer.action === "accept" ? { action: "accept", content: answer.content } : { action: answer.action };
  };
  return (params, source) => {
    const kind = params.mode === "url" ? "url" : "form";
    return withinLimits(context, { kind, source, isDeclined: ({ action }) => action !== "accept" }, async () => {
      const result = await ask(params, source);
      const outcome = result.action === "accept" ? "allowed" : "denied";
      decide(context, { subject: "elicitation", name: kind, outcome, by: "person" });
      return result;
    });
  };
}

const refusal = { action: "decline" } as const;

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
  const page = new URL(url);
  return {
    origin,
    message,
    // The serialized URL is ASCII: the host is Punycode, and other characters are percent-encoded.
    url: page.href,
    host: page.host,
    remarks: [...nameRemarks(page.hostname), ...addressRemarks(page), ...serverRemarks(page, serverHost)],
  };
}

function nameRemarks(hostname: string): string[] {
  if (!/(^|\.)xn--/.test(hostname)) return [];
  const unicode = domainToUnicode(hostname);
  const mixedLabels = unicode.split(".").filter((label) => scriptsOf(label).length > 1);
  return [
    `The host has letters that can look like other letters. It is displayed as ${JSON.stringify(unicode)}.`,
    ...mixedLabels.map(
      (label) => `${JSON.stringify(label)} mixes letters of the scripts ${scriptsOf(label).join(" and ")}.`,
    ),
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
  const scriptNames = scripts.filter(({ pattern }) => pattern.test(label)).map(({ name }) => name);
  // Names in these scripts are often written together with Latin letters, so their mixture is not remarkable.
  return asian.test(label)
    ? scriptNames.filter((name) => name !== "Latin").concat("an East Asian script")
    : scriptNames;
}

/** The server of the question, and the parts of the host that ask it. */
interface ScopeQuestion extends Pick<InputContext, "server" | "clock" | "ask" | "onDecision"> {
  readonly renderer: Pick<Renderer, "signIn">;
  readonly calls: Pick<ActiveCalls, "current">;
}

/** Resolves with whether the user agreed to sign in for the missing scopes. Undefined if nobody was asked. */
export type ConfirmScopes = (purpose: SignInPurpose, signal: AbortSignal) => Promise<boolean | undefined>;

/** Returns the function that asks the user whether to sign in for the scopes that a call needs. */
export function confirmScopes({ renderer, calls, ...context }: ScopeQuestion): ConfirmScopes {
  return async ({ server: url, issuer, scopes = [], missingScopes = [] }, signal) => {
    const { isAny, label: during } = calls.current();
    const { signIn } = renderer;
    // A request in the background must not open a page.
    if (!signIn || !isAny) return undefined;
    const request = { server: context.server, url, issuer, during, missingScopes, scopes };
    const { action } = await context.ask(() => signIn(request, signal), signal);
    const isAllowed = action === "allow";
    decide(context, { subject: "sign-in", name: "scopes", outcome: isAllowed ? "allowed" : "denied", by: "person" });
    return isAllowed;
  };
}
