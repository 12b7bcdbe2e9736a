import { type ServerTarget, formatValue } from "@mcparley/config";
import { redact } from "mcparley";

/** Names of variables, headers, options and query parameters whose values are secret. */
const secretName =
  /(?:^|[^a-z])(?:auth(?:orization)?|token|secret|pass(?:word|wd|phrase)?|pwd|pat|jwt|cookie|credentials?|(?:api|access|private|client|license|encryption|signing|auth)[^a-z]?key|key)s?(?:$|[^a-z])/i;

/** Whether the name of a variable, a header or an option is that of a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name.replace(/([a-z])([A-Z])/g, "$1-$2"));
}

/** Whether a text has the form of a secret, such as the token of a known service. */
export function isSecretValue(text: string): boolean {
  return redact(text) !== text || /^(?:gh[opsu]_|github_pat_|glpat-|sk-|xox[abpr]-|AKIA|eyJ[\w-]+\.)/.test(text);
}

/** Whether a text contains a reference, such as `Bearer ${env:TOKEN}`. */
export function hasReference(text: string): boolean {
  return /\$\{[^{}]+\}/.test(text);
}

/** Returns a target as one line without secrets: a URL without its query, or the words of a command. References stay. */
export function describeTarget(target: ServerTarget): string {
  if (target.kind === "url") return safeUrl(formatValue(target.url));
  return safeWords([target.command, ...target.args].map(formatValue))
    .map((word) => (/^[\w@%+=:,./${}*?[\]-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ");
}

/** Returns a URL without its user information, and without the values of its query. */
function safeUrl(text: string): string {
  return redact(
    text
      .replace(/^(\w+:\/\/)[^/?#]*@/, "$1[redacted]@")
      .replace(/#.*$/s, "")
      .replace(/([?&][^=&#]*=)(?!\$\{)[^&#]+/g, "$1***"),
  );
}

/** Returns the words of a command in which the values of secret options are replaced. */
export function safeWords(words: readonly string[]): string[] {
  return words.map((word, index) => {
    if (/^https?:\/\//i.test(word)) return safeUrl(word);
    const [, name = "", value] = /^(?:--?)?([\w.-]+)=(.*)$/s.exec(word) ?? [];
    if (value !== undefined && isSecretName(name) && !hasReference(value)) return word.slice(0, -value.length) + "***";
    const before = words[index - 1] ?? "";
    const follows = /^--?[a-z]/i.test(before) && !before.includes("=") && isSecretName(before);
    if (follows && !word.startsWith("-") && !hasReference(word)) return "***";
    return isSecretValue(word) && !hasReference(word) ? redacted(word) : word;
  });
}

function redacted(word: string): string {
  const shown = redact(word);
  return shown === word ? "***" : shown;
}
