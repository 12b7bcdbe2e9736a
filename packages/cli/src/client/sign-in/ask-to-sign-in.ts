import { Cancelled, Declined } from "mcparley";
import type { SignInPurpose } from "mcparley/auth";
import { askUrl } from "../questions/ask-url.ts";
import type { Talk } from "../questions/choose.ts";
import { paragraph } from "../screen.ts";
import { visibleLine } from "../terminal-text.ts";

interface SignInPage {
  readonly url: URL;
  readonly purpose: SignInPurpose | undefined;
  /** The reason for which the stored tokens could not be renewed. Default: none. */
  readonly reason?: string | undefined;
  readonly openUrl: (url: string) => Promise<void>;
}

/**
 * Shows the page of a sign-in with its server and its scopes, and opens it only if the user agrees. Throws `Declined` or `Cancelled`
 * if the user does not.
 */
export async function askToSignIn(
  { url, purpose, reason, openUrl }: SignInPage,
  { prompter, view }: Talk,
): Promise<void> {
  prompter.say(`\n${view.style.bold("The server asks you to sign in:")}`);
  if (purpose) for (const line of describePurpose(purpose)) prompter.say(paragraph(line, view, "  "));
  if (reason !== undefined) prompter.say(paragraph(`Reason: ${visibleLine(reason)}`, view, "  "));
  const { action } = await askUrl(url.href, openUrl, { prompter, view });
  if (action === "decline") throw new Declined("You declined to sign in.");
  if (action !== "accept") throw new Cancelled("The sign-in was cancelled.");
}

/** Returns the server and the scopes of a sign-in as lines, safe to show. The query of a URL can contain a key. */
export function describePurpose({ server, scopes, missingScopes }: SignInPurpose): string[] {
  const { origin, pathname } = new URL(server);
  const facts = [
    ["Server", origin + pathname],
    ["Missing scopes", missingScopes?.join(" ")],
    ["Scopes", scopes?.join(" ")],
  ] as const;
  return facts.flatMap(([label, text]) => (text ? `${label}: ${visibleLine(text)}` : []));
}
