import { Cancelled, Declined } from "mcparley";
import type { SignInPurpose } from "mcparley/auth";
import { askUrl } from "../questions/ask-url.ts";
import type { Talk } from "../questions/choose.ts";
import { paragraph } from "../screen.ts";
import { visibleLine } from "../terminal-text.ts";

interface SignInPage {
  readonly url: URL;
  readonly purpose: SignInPurpose | undefined;
  readonly openUrl: (url: string) => Promise<void>;
}

/**
 * Shows the page of a sign-in with its server and its scopes, and opens it only if the user agrees. Throws `Declined` or `Cancelled`
 * if the user does not.
 */
export async function askToSignIn({ url, purpose, openUrl }: SignInPage, { prompter, view }: Talk): Promise<void> {
  prompter.say(`\n${view.style.bold("The server asks you to sign in:")}`);
  const facts = [
    ["Server", purpose?.server],
    ["Missing scopes", purpose?.missingScopes?.join(" ")],
    ["Scopes", url.searchParams.get("scope")],
  ] as const;
  for (const [label, text] of facts) {
    if (text) prompter.say(paragraph(`${label}: ${visibleLine(text)}`, view, "  "));
  }
  const { action } = await askUrl(url.href, openUrl, { prompter, view });
  if (action === "decline") throw new Declined("You declined to sign in.");
  if (action !== "accept") throw new Cancelled("The sign-in was cancelled.");
}
