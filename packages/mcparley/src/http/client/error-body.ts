import { isObject } from "../../rpc/messages.ts";
import { redact } from "../../rpc/redact.ts";

/** Maximum number of characters at the start of a text in which an explanation is searched. */
const SEARCHED_CHARS = 8_192;
/** Maximum number of characters of a JSON body that is parsed. Millions of brackets would take a second. */
const PARSED_CHARS = 262_144;
/** Maximum number of characters of an explanation, and of one that is taken from HTML or XML. */
const TEXT_CHARS = 1_000;
const MARKUP_CHARS = 200;

/**
 * Returns the explanation in the body of an error response, on one line and with secrets redacted: the text of a JSON error,
 * the title of a page, or the body itself. Empty if a JSON body has no explanation, is cut off, or
 * has more than 262,144 characters.
 */
export function explanationIn(body: string): string {
  const text = body.trim();
  if (text.startsWith("<")) return oneLine(readMarkup(text.slice(0, SEARCHED_CHARS)), MARKUP_CHARS);
  return oneLine(/^[[{]/.test(text) ? readJsonError(text) : text, TEXT_CHARS);
}

function oneLine(text: string, limit: number): string {
  const line = redact(text.slice(0, SEARCHED_CHARS).replace(/\s+/g, " ").trim());
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

function readJsonError(text: string): string {
  let value: unknown;
  try {
    // A longer text is cut off, so that it is not JSON.
    value = JSON.parse(text.slice(0, PARSED_CHARS));
  } catch {
    return "";
  }
  const [first] = Array.isArray(value) ? value : [value];
  const inner = isObject(first) && isObject(first.error) ? first.error : first;
  if (!isObject(inner)) return "";
  // OAuth (RFC 6750), JSON-RPC, problem details (RFC 9457), and what web frameworks and Okta write.
  const { error_description, message, detail, title, error, errorSummary } = inner;
  const texts = [error_description, message, detail, title, error, errorSummary];
  return texts.find((one): one is string => typeof one === "string" && one.trim() !== "") ?? "";
}

/** Titles that explain nothing. The default page of Express has the first. */
const emptyTitle = /^(?:error|document|untitled)?$/i;

/** Returns the title of a page, or else the first line of its text. The lines below it are often a stack trace. */
function readMarkup(markup: string): string {
  const title = plainText(/<title[^<>]*>([^<]*)/i.exec(markup)?.[1] ?? "");
  const body = markup
    .replace(/<(title|script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, "")
    .replace(/<(?:br|hr|\/(?:p|pre|div|h\d|li|tr))\b[^<>]*>/gi, "\n")
    .replace(/<[^>]*(?:>|$)/g, " ");
  const [line = ""] = plainText(body).split("\n");
  return emptyTitle.test(title) && line !== "" ? line : title;
}

const entities: ReadonlyMap<string, string> = new Map([
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&#34;", '"'],
  ["&#39;", "'"],
  ["&nbsp;", " "],
  ["&amp;", "&"],
]);

/** Decodes the common character references, and removes empty lines and repeated spaces. */
function plainText(text: string): string {
  return text
    .replace(/&#?\w{2,6};/g, (entity) => entities.get(entity) ?? entity)
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "")
    .join("\n");
}
