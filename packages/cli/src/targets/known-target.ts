import { safeUrl } from "@mcparley/internal/secret-values";
import type { Option, Options, OptionsOfCommands, Words } from "../terminal/options.ts";
import { quotedWord } from "../terminal/quoted-word.ts";

/** The target of a command, as far as error messages may show it. */
export interface KnownTarget {
  /** The word TARGET. Undefined if a command after `--` replaces it. */
  readonly word: string | undefined;
  /** The words after `--`. Undefined without `--`. */
  readonly command: readonly string[] | undefined;
  /** The name of the configured server, and the text with which the library names its program. Undefined for other targets. */
  readonly configured?: { readonly name: string; readonly program: string | undefined };
  /** The URL of the server, if it is known. The values of its query may be secret. */
  readonly url?: string;
  /** The names of the headers that the user configured. Their values may be secret. */
  readonly headerNames: readonly string[];
  /** The options that another command needs for the same server and the same sign-in, such as `--config FILE`. Default: none. */
  readonly options?: readonly TargetOption[];
}

/** An option of the command line that selects the server, the connection or the sign-in. */
export interface TargetOption {
  readonly name: string;
  /** Undefined for a switch. */
  readonly value: string | undefined;
  /** The commands that have the option. */
  readonly commands: readonly string[];
}

/** Returns the options that a hint with another command repeats. A URL with a password or a query is left out. */
export function optionsOfTarget(words: Words, declaredOptions: Options, commands: OptionsOfCommands): TargetOption[] {
  return Object.values(declaredOptions)
    .filter(isOfTarget)
    .flatMap(({ name, value: placeholder }) => {
      const owners = [...commands].filter(([, { options }]) =>
        Object.values(options).some((option) => option.name === name && isOfTarget(option)),
      );
      return words.options
        .filter((typedOption) => typedOption.name === name && !hasSecret(typedOption.value ?? ""))
        .map(({ value }) => ({
          name,
          value: placeholder === undefined ? undefined : value,
          commands: owners.map(([command]) => command),
        }));
    });
}

/** Whether an option selects the server, the connection or the sign-in, so that a hint with another command repeats it. */
function isOfTarget({ topic, isOfTarget: selectsServer = false }: Option): boolean {
  return topic === "network" || topic === "signing-in" || selectsServer;
}

/**
 * Replaces `mcparley COMMAND TARGET` in a hint with the command for this target, with the options that it has.
 *
 * URLs with a query or user information stay `TARGET`, and only the program of a started server is shown, because the rest may
 * contain secrets.
 */
export function withTarget(hint: string, target: KnownTarget | undefined): string {
  return hint.replaceAll(
    /mcparley ([a-z]+) TARGET((?: (?:tools|prompts|resources|templates))?)/g,
    (line: string, ...[command, kind, offset]: [string, string, number]) => {
      const [remainingHint = ""] = hint.slice(offset + line.length).split(/\.(?:\s|$)/, 1);
      const options = repeatedOptions(target?.options ?? [], command, remainingHint);
      const programWords = target?.command;
      if (programWords?.[0] !== undefined) {
        const program = programWords.length > 1 ? `${programWords[0]} ...` : programWords[0];
        return `mcparley ${command}${kind}${options} -- ${program}`;
      }
      const word = target?.word;
      const isShown = word !== undefined && /^[\w./:@~+-]+$/.test(word) && !hasSecret(word);
      return `mcparley ${command} ${isShown ? word : "TARGET"}${kind}${options}`;
    },
  );
}

/** The options of another client, by the option in a hint that replaces this client. */
const replacedBy: Readonly<Record<string, readonly string[]>> = {
  "client-id": ["new-client"],
  "new-client": ["client-id", "client-secret-env", "redirect-uri"],
};

/** Returns the options that a command has, except those in the rest of the hint. */
function repeatedOptions(options: readonly TargetOption[], command: string, remainingHint: string): string {
  const names = [...remainingHint.matchAll(/ --([a-z-]+)/g)].map(([, name = ""]) => name);
  const replacedNames = new Set(names.flatMap((name) => [name, ...(replacedBy[name] ?? [])]));
  return options
    .filter(({ name, commands }) => commands.includes(command) && !replacedNames.has(name))
    .map(({ name, value }) => {
      if (value === undefined) return ` --${name}`;
      return value.startsWith("-") ? ` --${name}=${quotedWord(value)}` : ` --${name} ${quotedWord(value)}`;
    })
    .join("");
}

function hasSecret(word: string): boolean {
  return /^\w+:\/\//.test(word) && safeUrl(word) !== word;
}

/** Minimum characters of a value that is replaced without its name. A shorter one can be a part of other words. */
const shortestSecret = 8;

/**
 * Replaces the secrets of a server's URL in a text by asterisks: the values of its query, and the parts of its path that look like secrets. They
 * can be in the URL, in its percent-encoded form, and in other texts, such as the message of a server that refuses a key.
 */
export function withoutUrlSecrets(text: string, url: string | undefined): string {
  if (url === undefined) return text;
  const parts = pathOf(url);
  const safeParts = pathOf(safeUrl(url));
  const safeText = parts.reduce(
    (result, part, index) => (part === safeParts[index] ? result : result.replaceAll(part, () => safeParts[index]!)),
    text,
  );
  return withoutQueryValues(safeText, url);
}

function pathOf(url: string): string[] {
  const [path = ""] = url.split(/[?#]/, 1);
  return path.split("/").slice(3);
}

function withoutQueryValues(text: string, url: string): string {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? "";
  const pairs = query.split("&").flatMap((pair) => {
    const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    return value === "" ? [] : [{ name, value }];
  });
  return pairs.reduce((safeText, { name, value }) => {
    const textWithoutPairs = safeText
      .replaceAll(`${name}=${value}`, `${name}=***`)
      .replaceAll(encodeURIComponent(`${name}=${value}`), encodeURIComponent(`${name}=***`));
    if (value.length < shortestSecret) return textWithoutPairs;
    const [decodedValue = value] = new URLSearchParams(`v=${value}`).values();
    return textWithoutPairs
      .replaceAll(value, "***")
      .replaceAll(decodedValue, "***")
      .replaceAll(encodeURIComponent(value), "***");
  }, text);
}

/** Returns an error text that names a configured server by its name, and not by its program. */
export function withServerName(text: string, { configured }: Pick<KnownTarget, "configured">): string {
  if (configured?.program === undefined) return text;
  const name = JSON.stringify(configured.name);
  return text.replaceAll(`server ${JSON.stringify(configured.program)}`, () => `server ${name}`);
}
