import { type ServerTarget, formatValue } from "@mcparley/config";
import { safeUrl, safeWords } from "@mcparley/internal/secret-values";

/** Returns a target as one line without secrets: a URL without its query, or the words of a command. References stay. */
export function describeTarget(target: ServerTarget): string {
  if (target.kind === "url") return safeUrl(formatValue(target.url));
  return safeWords([target.command, ...target.args].map(formatValue))
    .map((word) => (/^[\w@%+=:,./${}*?[\]-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ");
}
