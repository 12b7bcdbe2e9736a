import type { UrlAnswer, UrlRequest } from "@mcparley/host";
import { askUrl } from "../../terminal/questions/ask-url.ts";
import type { Talk } from "../../terminal/questions/choose.ts";
import { introduce } from "./dialog.ts";

/** Shows the page that a server asks the user to visit, and opens it after a yes. */
export async function askVisit(
  { origin, message, url, remarks }: UrlRequest,
  open: (url: string) => Promise<void>,
  talk: Talk,
): Promise<UrlAnswer> {
  const wants = "asks you to open a page in your browser";
  if (!(await introduce({ origin, wants, message }, talk))) return { action: "decline" };
  const { action } = await askUrl(url, open, { ...talk, remarks });
  return { action };
}
