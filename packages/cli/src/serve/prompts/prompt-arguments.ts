import type { CompletionHandler } from "mcparley/server";
import { type CodeModules, codeFile } from "../tools/code-modules.ts";
import { FolderProblem } from "../yaml/problem.ts";
import { type LinkScope, nameFile } from "./prompt-links.ts";
import type { ServedRoot } from "../files/inside-folder.ts";
import {
  type Field,
  boolean,
  isAbsent,
  isList,
  isMapping,
  members,
  readMembers,
  text,
  texts,
  unread,
  wrong,
} from "../yaml/yaml-fields.ts";

/** An argument of a prompt as its file declares it. */
export interface PromptArgument {
  title?: string;
  description?: string;
  required?: true;
  /** The allowed values. Undefined if any text is allowed. */
  values?: string[];
  complete?: CompletionHandler;
}

export interface CompletionScope extends LinkScope {
  modules: CodeModules;
  /** Returns the paths of the currently served files in a root. */
  filesIn(root: ServedRoot): readonly string[];
}

/** Reads `arguments`: a mapping of names to definitions. A plain text is the description. */
export async function readArguments(
  field: Field,
  file: string,
  scope: CompletionScope,
): Promise<Record<string, PromptArgument>> {
  const read: [string, PromptArgument][] = [];
  for (const [name, argument] of members(field)) {
    if (!/^[A-Za-z_][\w-]*$/.test(name)) {
      throw wrong(
        argument,
        `"${name}" is not a valid name for an argument`,
        "Use letters, digits, _ and -. Start with a letter or _.",
      );
    }
    read.push([name, await readArgument(argument, file, scope)]);
  }
  return Object.fromEntries(read);
}

async function readArgument(field: Field, file: string, scope: CompletionScope): Promise<PromptArgument> {
  if (!isAbsent(field) && !isMapping(field)) return { description: text(field) };
  const { required, values, complete, ...labels } = readMembers(field, {
    title: text,
    description: text,
    required: boolean,
    values: texts,
    complete: unread,
  });
  if (values && complete) {
    const cure = "values allows no other text. complete only suggests.";
    throw wrong(complete, "an argument cannot have both values and complete", cure);
  }
  return {
    ...labels,
    ...(required && { required }),
    ...(values && { values, complete: suggest(() => values) }),
    ...(complete && { complete: await readCompletion(complete, file, scope) }),
  };
}

/** Reads `complete`: a list, a file pattern with a `*` for the suggestions, or a module whose default export suggests. */
async function readCompletion(field: Field, file: string, scope: CompletionScope): Promise<CompletionHandler> {
  if (isList(field)) {
    const all = texts(field);
    return suggest(() => all);
  }
  const source = text(field);
  if (source.includes("*")) return filesMatching(source, field, { file, scope });
  if (codeFile.test(source)) return fromModule(source, field, { file, scope });
  const cure = "Give a list, a pattern such as ../resources/incidents/*.md, or a module such as ./languages.ts.";
  throw wrong(field, `"${source}" is not a source of suggestions`, cure);
}

interface Place {
  file: string;
  scope: CompletionScope;
}

function filesMatching(pattern: string, field: Field, { file, scope }: Place): CompletionHandler {
  const namedPath = nameFile(pattern, file, scope);
  const parts = namedPath?.path.split(/\*\*?/) ?? [];
  if (!namedPath || namedPath.root === scope.prompts || parts.length !== 2) {
    const cure =
      "Write a path into resources/ with one * in place of the suggestion, as in ../resources/incidents/*.md.";
    throw wrong(field, `"${pattern}" is not a pattern of resource paths`, cure);
  }
  const [prefix, suffix] = parts as [string, string];
  const deep = pattern.includes("**");
  const isMatch = (path: string): boolean =>
    path.length >= prefix.length + suffix.length && path.startsWith(prefix) && path.endsWith(suffix);
  return suggest(() => {
    const stars = scope
      .filesIn(namedPath.root)
      .filter(isMatch)
      .map((path) => path.slice(prefix.length, path.length - suffix.length));
    return deep ? stars : stars.filter((star) => !star.includes("/"));
  });
}

async function fromModule(source: string, field: Field, { file, scope }: Place): Promise<CompletionHandler> {
  const path = source.startsWith("/") ? source.slice(1) : new URL(source, `file:///${file}`).pathname.slice(1);
  const moduleExports = await scope.modules.load(decodeURIComponent(path)).catch((error: unknown) => {
    const missing = error instanceof FolderProblem && error.problem.message.endsWith("does not exist");
    throw missing ? wrong(field, `there is no module ${source}`, "Give a path relative to this file.") : error;
  });
  const complete = moduleExports.default;
  if (typeof complete === "function") return complete as CompletionHandler;
  throw wrong(
    field,
    `${source} has no function as its default export`,
    "Write `export default (typed, others) => [...]`.",
  );
}

/** Suggests first the candidates that start with the typed text, then those that contain it. */
export function suggest(candidates: () => readonly string[]): CompletionHandler {
  return (typedText) => {
    const part = typedText.toLowerCase();
    const holding = candidates().filter((candidate) => candidate.toLowerCase().includes(part));
    const begins = (candidate: string): boolean => candidate.toLowerCase().startsWith(part);
    return [...holding.filter(begins), ...holding.filter((candidate) => !begins(candidate))];
  };
}
