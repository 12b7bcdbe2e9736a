import type { Catalogue } from "@mcparley/host";

/** A resource or a template that a message names, such as `@notes:note://today`. */
export interface Mention {
  readonly server: string;
  readonly uri: string;
  /** Whether the URI has variables that must be asked for. */
  readonly isTemplate: boolean;
}

/** `@server:uri`, or `@<server:uri>` for a URI with spaces, at the start of a word. */
const pattern = /(?<=^|\s)@(?:<([^<>\n]+)>|(\S+))/g;

/** Code between the same number of backticks, in which an `@` is text. */
const code = /(?<!`)(`+)(?!`)[^]*?(?<!`)\1(?!`)/g;

/** A character at the end of a word that seldom belongs to a URI. */
const punctuation = /[.,;:!?)\]}'"]$/;

/**
 * Returns the resources that a text names, each once. An `@` within a word or within backticks is text, such as that of an e-mail address.
 * Punctuation at the end of a word belongs to the text, unless the catalogue has the URI with it.
 */
export function findMentions(text: string, names: MessageNames): Mention[] {
  const mentions = new Map<string, Mention>();
  for (const name of namesIn(text)) {
    const mention = readWord(name, names)?.mention;
    if (mention) mentions.set(JSON.stringify([mention.server, mention.uri]), mention);
  }
  return [...mentions.values()];
}

/** Returns the names behind an `@` that are no resources of known servers, each once: those of files, and those that are unknown. */
export function otherNames(text: string, names: MessageNames): string[] {
  return [...new Set(namesIn(text))].filter((name) => name.length > 0 && !readWord(name, names));
}

/** Returns the forms of a name, from the longest: with and without the punctuation at its end. */
export function formsOf(name: string): string[] {
  const forms: string[] = [];
  for (let form = name; form !== ""; form = form.slice(0, -1)) {
    forms.push(form);
    if (!punctuation.test(form)) return forms;
  }
  // Nothing but punctuation is no name.
  return [];
}

function namesIn(text: string): string[] {
  const isCode = codeIn(text);
  const matches = [...text.matchAll(pattern)].filter(({ index }) => !isCode(index));
  return matches.map(([, bracketName, word]) => bracketName ?? word ?? "");
}

/** Returns a function that returns whether a position is in code. It must be called with positions in ascending order. */
function codeIn(text: string): (index: number) => boolean {
  const ranges = [...text.matchAll(code)].map(({ index, 0: { length } }) => ({ start: index, end: index + length }));
  let next = 0;
  return (index) => {
    while (index >= (ranges[next]?.end ?? Infinity)) next++;
    return index >= (ranges[next]?.start ?? Infinity);
  };
}

/** Returns a text in which `\@` at the start of a word has become `@`, except in code. */
export function unescapeMentions(text: string): string {
  const isCode = codeIn(text);
  return text.replaceAll(/(?<=^|\s)\\@/g, (match, index: number) => (isCode(index) ? match : "@"));
}

/** Returns a text that names other resources. `replace` returns the text for a mention, or undefined if it remains. */
export function replaceMentions(
  text: string,
  names: MessageNames,
  replace: (mention: Mention) => string | undefined,
): string {
  const isCode = codeIn(text);
  return text.replaceAll(
    pattern,
    (match: string, ...[bracketName, word, index]: [string | undefined, string | undefined, number]) => {
      if (isCode(index)) return match;
      const read = readWord(bracketName ?? word ?? "", names);
      const replacement = read && replace(read.mention);
      return replacement === undefined ? match : `${replacement}${read?.suffix ?? ""}`;
    },
  );
}

/** Returns the text that names a resource in a message. */
export function mentionText(server: string, uri: string): string {
  const name = `${server}:${uri}`;
  return /[\s<>]/.test(name) ? `@<${name}>` : `@${name}`;
}

/** The names that a message can refer to. */
export interface MessageNames {
  readonly catalogue: Catalogue;
  readonly servers: ReadonlyMap<string, unknown>;
}

/**
 * Reads a word without its `@`. `suffix` is the punctuation that does not belong to the resource: as little as possible, because a
 * template can end with a brace.
 */
function readWord(word: string, names: MessageNames): { mention: Mention; suffix: string } | undefined {
  for (const form of formsOf(word)) {
    const mention = readMention(form, names);
    if (mention) return { mention, suffix: word.slice(form.length) };
  }
  return undefined;
}

function readMention(name: string, { catalogue, servers }: MessageNames): Mention | undefined {
  const colon = name.indexOf(":");
  const server = name.slice(0, colon);
  const uri = name.slice(colon + 1);
  if (colon < 1 || uri === "" || !servers.has(server)) return undefined;
  const isTemplate = catalogue.templates.some((entry) => entry.server === server && entry.template.uriTemplate === uri);
  const isListed = catalogue.resources.some((entry) => entry.server === server && entry.resource.uri === uri);
  // A resource that is not listed can exist, for example one of a template.
  return isTemplate || isListed || !punctuation.test(uri) ? { server, uri, isTemplate } : undefined;
}
