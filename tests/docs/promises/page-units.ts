import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A sentence or a row of a table. */
export interface Unit {
  text: string;
  isRow: boolean;
}

/** Headings of columns that name a thing, describe an attack, or state a task of the reader. */
const otherColumns =
  /^(?:Advisory|Attack|Attacker|What happened elsewhere|What it can send or do|What you have to do|Test|Boundary|Who is on the other side|What crosses it|Asset|Owner|Actor|Can|Subject|You are|Decide)$/;

/** The sections of the pages about consent that are about rules, pins and the approval of calls. */
const sectionsOfConsent: Readonly<Record<string, RegExp>> = {
  "hosts/consent.md": /^(?:Write rules|Review definitions|Approve calls)$/,
  "reference/consent-rules.md":
    /^(?:Members of a rule|Patterns|Annotations|Rules that are not valid|Hash of a definition|Characters that deceive|Approval requests)$/,
};

const isIncluded = (page: string, heading: string): boolean =>
  sectionsOfConsent[page]?.test(heading) ?? !/^Next(?: pages)?$/.test(heading);

/**
 * Returns the sentences and rows of a page in `docs/`, as they are read: without front matter, code blocks, headings, marks of call-outs, and the
 * targets of links.
 * The cells of a row are separated by ` | `. Columns that state no behaviour are omitted.
 */
export function unitsOf(page: string): Unit[] {
  const text = readFileSync(fileURLToPath(new URL(`../../../docs/${page}`, import.meta.url)), "utf8");
  const prose = text
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/^> ?(?:\[!\w+\]\n)?/gm, "");
  const sections = prose.split(/^#+ /m);
  return sections
    .map((section) => section.split(/\n([\s\S]*)/))
    .filter(([heading = ""]) => isIncluded(page, heading))
    .flatMap(([, body = ""]) => withoutMarks(body).split(/\n\s*\n|\n(?=- )/))
    .flatMap((block) => (block.trimStart().startsWith("|") ? rowsOf(block) : sentencesOf(block)));
}

/** Returns a text without the targets of links and the marks of call-outs. */
function withoutMarks(text: string): string {
  return text.replaceAll(/^> ?(?:\[!\w+\])?/gm, "").replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1");
}

function rowsOf(table: string): Unit[] {
  const lines = table.trim().split("\n");
  const [headings = [], , ...rows] = lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return rows
    .map((cells) => cells.filter((_, index) => !otherColumns.test(headings[index] ?? "")).join(" | "))
    .filter((row) => row !== "")
    .map((row) => ({ text: row, isRow: true }));
}

function sentencesOf(block: string): Unit[] {
  const prose = block
    .trim()
    .replace(/^- (?:\[ \] )?/, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll("**", "");
  const sentences = prose === "" ? [] : prose.split(/(?<=[.:?!]) (?=[A-Z`*])/);
  return sentences.map((sentence) => ({ text: sentence, isRow: false }));
}
