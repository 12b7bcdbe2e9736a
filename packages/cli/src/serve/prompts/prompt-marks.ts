import type { Role } from "mcparley";
import { didYouMean } from "../../did-you-mean.ts";
import { FolderProblem } from "../problem.ts";

/** A line of a prompt that is no text: it begins a message of a role, or puts something of the folder into one. */
export type Mark =
  | { kind: "role"; role: Role }
  /** `embed` puts the content itself there (`![...](...)`), `link` a link to it (`[...](...)`). */
  | { kind: "embed" | "link"; label: string; target: string; line: number };

const roleLine = /^\s*<!--\s*role:\s*(\S{1,40})\s*-->\s*$/;
/** A target may hold placeholders, with blanks inside their braces. */
const linkLine = /^ {0,3}(!?)\[([^\]]*)\]\((?:<([^<>]+)>|((?:\{\{[^}]*\}\}|[^\s(){}])+))(?:[ \t]+"[^"]*")?\)\s*$/;
const codeFence = /^ {0,3}(`{3,}|~{3,})/;

/** Whether a target is settled when the file is read, and so can be checked then. */
export function isFixed(target: string): boolean {
  return !target.includes("{{") && !target.includes("{%");
}

/**
 * Finds the marks of a prompt and gives its lines with each of them replaced by `replace`.
 *
 * Marks are found in what the author wrote, before any value is filled in: what a caller gives as an argument stays
 * text, whatever it looks like. Nothing is a mark in fenced code or between `{% raw %}` and `{% endraw %}`.
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
  const [matched, bang, label = "", bracketed, bare] = linkLine.exec(text) ?? [];
  const target = bracketed ?? bare;
  if (matched === undefined || target === undefined) return undefined;
  if (/^https?:/i.test(target)) {
    if (bang === "") return undefined;
    throw new FolderProblem({
      file,
      line,
      message: `"${target}" is on the web, and nothing is fetched for a prompt`,
      cure: "Put the file into the folder, or leave out the ! to keep it a link in the text.",
    });
  }
  return { kind: bang === "!" ? "embed" : "link", label, target, line };
}

function checkRole(role: string, line: number, file: string): Role {
  if (role === "user" || role === "assistant") return role;
  const cure =
    role === "system"
      ? "Prompts of the protocol have no system messages: say it in a message of the user."
      : didYouMean(role, ["user", "assistant"]);
  throw new FolderProblem({ file, line, message: `there is no role "${role}"`, cure });
}
