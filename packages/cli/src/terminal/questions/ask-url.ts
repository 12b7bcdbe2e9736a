import type { ElicitResult } from "mcparley";
import { type Style, visibleLine } from "../text.ts";
import { type Talk, choose } from "./choose.ts";
import { ownLines } from "./server-text.ts";

/** The terminal of the question, and what is known about the URL. */
interface UrlTalk extends Talk {
  /** Remarks about the URL. Default: a remark on a host with letters that can look like others. */
  readonly remarks?: readonly string[];
}

/**
 * Shows the URL that the server wants the user to visit, with its host highlighted, and opens it only after a yes.
 *
 * The host and the whole URL are shown before anything is opened (client/elicitation, Safe URL Handling).
 */
export async function askUrl(
  url: string,
  open: (url: string) => Promise<void>,
  { prompter, view, remarks }: UrlTalk,
): Promise<ElicitResult> {
  const parsedUrl = new URL(url);
  const { bold, yellow } = view.style;
  prompter.say(`\n  ${highlightHost(parsedUrl.href, view.style)}\n`);
  const isSuspect = !remarks && hasSimilarLetters(parsedUrl);
  const warning = isSuspect ? ", a name with letters that can look like other letters" : "";
  prompter.say(`Its host is ${bold(parsedUrl.host)}${warning}.`);
  for (const remark of remarks ?? []) {
    prompter.say(yellow(ownLines(visibleLine(remark), view, ["! ", "  "]).join("\n")));
  }
  const keys = { y: "open", m: "myself", n: "decline", d: "decline", c: "cancel" } as const;
  const choice = await choose("Open it? [y]es, [m]anually, [n]o (decline) or [c]ancel? ", keys, prompter);
  if (choice === "decline" || choice === "cancel") return { action: choice };
  if (choice === "open") await tryToOpen(parsedUrl.href, open, { prompter, view });
  return { action: "accept" };
}

async function tryToOpen(url: string, open: (url: string) => Promise<void>, { prompter }: Talk): Promise<void> {
  try {
    await open(url);
  } catch (error) {
    const reason = visibleLine((error as Error).message);
    prompter.say(`No browser could be started (${reason}). Open the URL yourself.`);
  }
}

/** Returns a URL with its host highlighted. Parts of the URL may have been replaced, but not the host. */
export function highlightHost(url: string, { inverse }: Style): string {
  const [, start = "", host = "", path = ""] = /^([a-z][a-z\d+.-]*:\/\/)([^/\\?#]*)(.*)$/.exec(url) ?? [];
  return host === "" ? visibleLine(url) : `${start}${inverse(visibleLine(host))}${visibleLine(path)}`;
}

/** Whether the host has letters that can resemble others. They are shown as punycode, which few users recognize. */
export function hasSimilarLetters({ hostname }: URL): boolean {
  return /(^|\.)xn--/.test(hostname);
}
