/** The variables of editors that a configuration can refer to. */
export type PathVariable = "workspaceFolder" | "workspaceFolderBasename" | "userHome" | "pathSeparator";

/** A part of a value that the host replaces. `text` is the reference as written in the file. */
export type Reference =
  | { readonly kind: "env"; readonly name: string; readonly fallback?: string }
  | { readonly kind: "input"; readonly id: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "path"; readonly name: PathVariable }
  | { readonly kind: "unknown"; readonly text: string };

/** A text, or a text with references such as `["Bearer ", { kind: "env", name: "TOKEN" }]`. A string is literal. */
export type ConfigValue = string | readonly (string | Reference)[];

/** The form in which a host writes references within a text. */
export type ReferenceSyntax = "none" | "dollar-brace" | "dollar-brace-file" | "dollar" | "brace";

const pathVariables: ReadonlyMap<string, PathVariable> = new Map([
  ["workspaceFolder", "workspaceFolder"],
  ["workspaceFolderBasename", "workspaceFolderBasename"],
  ["userHome", "userHome"],
  ["pathSeparator", "pathSeparator"],
  ["/", "pathSeparator"],
]);

/** A reference within another one belongs to the outer one, which is unknown then. A host would not replace all of it. */
const patterns: Readonly<Record<Exclude<ReferenceSyntax, "none">, RegExp>> = {
  "dollar-brace": /\$\{((?:[^{}]|\{[^{}]*\})*)\}/g,
  "dollar-brace-file": /\$\{((?:[^{}]|\{[^{}]*\})*)\}/g,
  dollar: /\$(?:\{((?:[^{}]|\{[^{}]*\})*)\}|([A-Za-z_]\w*))/g,
  brace: /\{((?:env|file):[^{}]*)\}/g,
};

/** Splits a text of a file into literal parts and references. Returns the text itself if it has no reference. */
export function parseValue(text: string, syntax: ReferenceSyntax): ConfigValue {
  if (syntax === "none") return text;
  const parts: (string | Reference)[] = [];
  let end = 0;
  for (const match of text.matchAll(patterns[syntax])) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push(parseReference(match[0], match[1] ?? match[2] ?? "", syntax));
    end = match.index + match[0].length;
  }
  if (parts.length === 0) return text;
  return end < text.length ? [...parts, text.slice(end)] : parts;
}

function parseReference(text: string, inner: string, syntax: ReferenceSyntax): Reference {
  const path = pathVariables.get(inner);
  if (path !== undefined) return { kind: "path", name: path };
  if (inner.includes("{")) return { kind: "unknown", text };
  if (inner.startsWith("env:")) return { kind: "env", name: inner.slice("env:".length) };
  if (inner.startsWith("input:")) return { kind: "input", id: inner.slice("input:".length) };
  if (inner.startsWith("file:") && syntax !== "dollar-brace" && syntax !== "dollar")
    return { kind: "file", path: inner.slice("file:".length) };
  const [, name, , fallback] = /^([A-Za-z_]\w*)(:-(.*))?$/s.exec(inner) ?? [];
  if (name === undefined) return { kind: "unknown", text };
  return { kind: "env", name, ...(fallback !== undefined && { fallback }) };
}

/** Returns the parts of a value, one for a literal text. */
export function partsOf(value: ConfigValue): readonly (string | Reference)[] {
  return typeof value === "string" ? [value] : value;
}

/** Returns the references of a value. */
export function referencesOf(value: ConfigValue): readonly Reference[] {
  return partsOf(value).filter((part): part is Reference => typeof part !== "string");
}

/**
 * Returns a value for display, with each reference in one notation for all hosts, such as `${env:TOKEN}`.
 *
 * @example
 * ```ts
 * import { formatValue } from "@mcparley/config";
 *
 * console.log(formatValue(["Bearer ", { kind: "env", name: "TOKEN" }])); // Bearer ${env:TOKEN}
 * ```
 */
export function formatValue(value: ConfigValue): string {
  return partsOf(value)
    .map((part) => (typeof part === "string" ? part : formatReference(part)))
    .join("");
}

function formatReference(reference: Reference): string {
  switch (reference.kind) {
    case "env":
      return reference.fallback === undefined
        ? `\${env:${reference.name}}`
        : `\${${reference.name}:-${reference.fallback}}`;
    case "input":
      return `\${input:${reference.id}}`;
    case "file":
      return `\${file:${reference.path}}`;
    case "path":
      return `\${${reference.name}}`;
    default:
      return reference.text;
  }
}
