import type { Role } from "mcparley";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { problemAt } from "../yaml/problem.ts";

/** A line of a prompt that is not text: it starts a message of a role, or inserts a file of the folder into one. */
export type Mark =
  | { kind: "role"; role: Role }
  /** `embed` inserts the content (`![...](...)`), `link` a link to it (`[...](...)`). */
  | { kind: "embed" | "link"; label: string; target: string; line: number };

const roleLine = /^\s*<!--\s*role:\s*(\S{1,40})\s*-->\s*$/;
/** A target may contain placeholders, with spaces inside their braces. */
const linkLine = /^ {0,3}(!?)\[([^\]]*)\]\((?:<([^<>]+)>|((?:\{\{[^}]*\}\}|[^\s(){}])+))(?:[ \t]+"[^"]*")?\)\s*$/;
const codeFence = /^ {0,3}(`{3,}|~{3,})/;

/** Returns whether a target has no placeholders, so that it can be checked when the file is read. */
export function isFixed(target: string): boolean {
  return !target.includes("{{") && !target.includes("{%");
}

/**
 * Returns the lines of a prompt with each mark replaced by `replace`.
 *
 * Marks are found in the author's text before any value is filled in, so an argument can never become a mark. Fenced
 * code and text between `{% raw %}` and `{% endraw %}` contain no marks.
 */
export function replaceMarks(
  body: string,
  place: { file: string; firstLine: number },
  replace: (mark: Mark) => string,
): string {
  let fence: string | undefined;
  let raw = false;
  const lines = body.split("\n").map((text, index) => {
    const line = place.firstLine + index;
    const wasRaw = raw;
    raw = staysRaw(text, raw);
    const opens = codeFence.exec(text)?.[1];
    if (fence !== undefined) {
      if (opens?.startsWith(fence) && text.trim() === opens) fence = undefined;
      return text;
    }
    if (opens !== undefined) fence = opens;
    if (fence !== undefined || wasRaw || raw) return text;
    const mark = readMark(text, line, place.file);
    return mark ? replace(mark) : text;
  });
  return lines.join("\n");
}

function staysRaw(text: string, raw: boolean): boolean {
  for (const [tag] of text.matchAll(/\{%-?\s*(?:end)?raw\s*-?%\}/g)) raw = !tag.includes("end");
  return raw;
}

function readMark(text: string, line: number, file: string): Mark | undefined {
  const role = roleLine.exec(text)?.[1];
  if (role !== undefined) return { kind: "role", role: checkRole(role, line, file) };
  const [match, bang, label = "", bracketedTarget, bare] = linkLine.exec(text) ?? [];
  const target = bracketedTarget ?? bare;
  if (match === undefined || target === undefined) return undefined;
  if (/^https?:/i.test(target)) {
    if (bang === "") return undefined;
    const message = `"${target}" is a web address, and a prompt cannot embed web content`;
    throw problemAt(
      { file, line },
      message,
      "Put the file into the folder, or remove the ! to make it a link in the text.",
    );
  }
  return { kind: bang === "!" ? "embed" : "link", label, target, line };
}

function checkRole(role: string, line: number, file: string): Role {
  if (role === "user" || role === "assistant") return role;
  const cure =
    role === "system"
      ? "MCP has no system messages in prompts. Use a message of the user."
      : didYouMean(role, ["user", "assistant"]);
  throw problemAt({ file, line }, `there is no role "${role}"`, cure);
}
