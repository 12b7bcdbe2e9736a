import type { ElicitResult } from "mcparley";
import type { View } from "../screen.ts";
import type { Style } from "../terminal-text.ts";
import { choose } from "./ask-form.ts";
import type { Prompter } from "./prompter.ts";

/**
 * Shows the URL that the server wants the user to visit, with its host highlighted, and opens it only after a yes.
 *
 * The host and the whole URL are shown before anything is opened (client/elicitation, Safe URL Handling).
 */
export async function askUrl(
  url: string,
  open: (url: string) => Promise<void>,
  { prompter, view }: { prompter: Prompter; view: View },
): Promise<ElicitResult> {
  const parsed = new URL(url);
  prompter.say(`\n  ${highlightHost(parsed, view.style)}\n`);
  prompter.say(`Its host is ${view.style.bold(parsed.host)}${warning(parsed)}`);
  const keys = { y: "open", m: "myself", n: "decline", d: "decline", c: "cancel" } as const;
  const chosen = await choose("Open it? [y]es, [m]anually, [n]o (decline) or [c]ancel? ", keys, prompter);
  if (chosen === "decline" || chosen === "cancel") return { action: chosen };
  if (chosen === "open") await tryToOpen(parsed.href, open, prompter);
  return { action: "accept" };
}

async function tryToOpen(url: string, open: (url: string) => Promise<void>, prompter: Prompter): Promise<void> {
  try {
    await open(url);
  } catch (error) {
    prompter.say(`No browser could be started (${(error as Error).message}). Open the URL yourself.`);
  }
}

function highlightHost(url: URL, { inverse }: Style): string {
  const start = `${url.protocol}//`;
  return `${start}${inverse(url.host)}${url.href.slice(start.length + url.host.length)}`;
}

/** Letters that resemble others are shown as punycode, which few users recognize. */
function warning({ hostname }: URL): string {
  return /(^|\.)xn--/.test(hostname) ? ", a name with letters that can look like other letters." : ".";
}
