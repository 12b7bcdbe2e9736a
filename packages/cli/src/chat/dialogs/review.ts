import type {
  DefinitionChange,
  DefinitionDifference,
  DefinitionKind,
  ReviewAnswer,
  ReviewRequest,
} from "@mcparley/host";
import { printableJson } from "mcparley";
import { type Talk, choose } from "../../terminal/questions/choose.ts";
import { chooseOrView, heading, present, remarkLines, stack } from "../../terminal/questions/dialog.ts";
import {
  type Excerpt,
  exactLines,
  excerpt,
  ownLines,
  quoteName,
  row,
  serverLines,
} from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";
import { shortJson, wholeJson } from "./json-text.ts";

/** Asks whether new and changed definitions of a server may be used: all, none or some of them. */
export async function askReview({ server, changes }: ReviewRequest, talk: Talk): Promise<ReviewAnswer> {
  const { view } = talk;
  const title = `The server ${quoteName(server)} has definitions that you have not accepted.`;
  const consequence = "The model sees only what you accept, and can call only accepted tools.";
  present(stack(heading(title, view), ownLines(consequence, view), summary(changes, view)), talk);
  const choice = await chooseOrView(
    {
      prompt: "Use them? [y]es to all, [n]one, [o]ne by one, [v]iew? ",
      keys: { y: "all", n: "none", no: "none", o: "each" } as const,
      all: () => changes.flatMap((change) => [...titleOf(change, view), ...wholeChange(change, view), ""]),
    },
    talk,
  );
  if (choice === "all") return { accepted: "all" };
  return { accepted: choice === "none" ? [] : await oneByOne(changes, talk) };
}

/** Asks for each definition. The user can refuse the rest at once. */
async function oneByOne(changes: readonly DefinitionChange[], talk: Talk): Promise<DefinitionChange[]> {
  const { prompter, view } = talk;
  const acceptedChanges: DefinitionChange[] = [];
  for (const [index, change] of changes.entries()) {
    const place = `${index + 1} of ${changes.length}: `;
    present(
      stack([""], titleOf(change, view, place), remarkLines(change.remarks, view), shortChange(change, view)),
      talk,
    );
    const choice = await chooseOrView(
      {
        prompt: "Use it? [y]es, [n]o, [q]uit (none of the rest), [v]iew? ",
        keys: { y: "yes", n: "no", q: "quit" } as const,
        all: () => wholeChange(change, view),
      },
      talk,
    );
    if (choice === "quit") break;
    if (choice === "yes") acceptedChanges.push(change);
  }
  if (acceptedChanges.length === 0) return acceptedChanges;
  prompter.say(`\nYou accept ${acceptedChanges.length} of ${changes.length}.`);
  const isSure = await choose("Use these? [y]es or [n]o (none)? ", { y: true, n: false }, prompter);
  return isSure ? acceptedChanges : [];
}

/** Returns the counts, then what needs attention, and the names of new definitions last, because they can be many. */
function summary(changes: readonly DefinitionChange[], view: View): Excerpt {
  const counts = kinds.flatMap(({ kind, label }) => {
    const ofKind = changes.filter((change) => change.kind === kind);
    return ofKind.length === 0 ? [] : row(label, countsOf(ofKind), view);
  });
  const [notableChanges, plain] = [changes.filter(needsAttention), changes.filter((change) => !needsAttention(change))];
  const details = notableChanges.map((change) => {
    const definition = change.status === "new" && change.kind !== "instructions" ? [] : shortChange(change, view);
    return stack(titleOf(change, view), remarkLines(change.remarks, view), definition);
  });
  const names = kinds.flatMap(({ kind, label }) => {
    const additions = plain.filter((change) => change.kind === kind);
    return additions.length === 0 ? [] : row(`New ${label.toLowerCase()}`, additions.map(shortName).join(", "), view);
  });
  const all = stack(...details);
  return stack(counts, excerpt(all.lines, view), { lines: [], isCut: all.isCut }, excerpt(names, view));
}

/** New instructions are shown, because the model reads them in each conversation. Of other new definitions the name is shown. */
function needsAttention({ kind, status, remarks }: DefinitionChange): boolean {
  return status !== "new" || kind === "instructions" || remarks.length > 0;
}

const kinds: readonly { readonly kind: DefinitionKind; readonly label: string }[] = [
  { kind: "instructions", label: "Instructions" },
  { kind: "tool", label: "Tools" },
  { kind: "prompt", label: "Prompts" },
  { kind: "resource", label: "Resources" },
  { kind: "template", label: "Templates" },
];

function countsOf(changes: readonly DefinitionChange[]): string {
  const counts = (["changed", "renamed", "new"] as const).flatMap((status) => {
    const count = changes.filter((change) => change.status === status).length;
    return count === 0 ? [] : `${count} ${status}`;
  });
  return counts.join(", ");
}

/** A name with a comma or a space is quoted, so that one name does not look like several. */
function shortName({ name }: DefinitionChange): string {
  return /^[\w.:/{}?&=+*~@%#-]+$/.test(name) ? name : quoteName(name);
}

/** Returns the line that names a definition and its status. */
function titleOf({ kind, name, status }: DefinitionChange, view: View, place = ""): string[] {
  if (kind === "instructions")
    return ownLines(`${place}The instructions for the model ${predicates[status].many}:`, view);
  const what = kind === "template" ? "resource template" : kind;
  return ownLines(`${place}The ${what} ${quoteName(name)} ${predicates[status].one}:`, view);
}

const predicates = {
  new: { one: "is new", many: "are new" },
  changed: { one: "has changed", many: "have changed" },
  renamed: { one: "was renamed", many: "were renamed" },
} as const;

/** Returns the differences of a definition, or a new definition. Long values and many lines are cut. */
function shortChange(change: DefinitionChange, view: View): Excerpt {
  if (change.status === "new") {
    if (typeof change.current === "string") return excerpt(serverLines(change.current, view), view);
    return shortJson(printableJson(change.current, 2), view);
  }
  const parts = change.differences.map((difference) => differenceLines(difference, view, maxRows));
  const { lines, isCut } = stack(...parts);
  const some = excerpt(lines, view);
  return stack(historyOf(change), { lines: some.lines, isCut: isCut || some.isCut });
}

/** Returns all that is known about a change. */
function wholeChange(change: DefinitionChange, view: View): string[] {
  const { current, differences, status } = change;
  const definition =
    typeof current === "string" ? serverLines(current, view) : wholeJson(printableJson(current, 2), view);
  if (status === "new") return definition;
  const changes = differences.flatMap((difference) => differenceLines(difference, view, Infinity).lines);
  return [...historyOf(change), ...changes, "  The definition now:", ...definition];
}

/** Maximum lines of a terminal for a value of a difference. */
const maxRows = 4;

function historyOf({ previous }: DefinitionChange): string[] {
  return previous === undefined ? ["  The accepted definition is not stored. All parts are shown as added."] : [];
}

function differenceLines({ path, before, after }: DefinitionDifference, view: View, most: number): Excerpt {
  const where = ownLines(path === "" ? "the whole definition" : visibleLine(path), view, ["  ", "    "]);
  const start = most === Infinity ? 0 : startOfDifference(before, after);
  const value = (text: string | undefined, label: string): Excerpt => {
    if (text === undefined) return { lines: [], isCut: false };
    const rows = exactLines(start > 0 ? `…${text.slice(start)}` : text, view, `  ${label.padEnd(7)} │ `);
    if (rows.length <= most) return { lines: rows, isCut: false };
    const note = view.style.yellow(`  … ${rows.length - most + 1} lines of this value are not shown`);
    return { lines: [...rows.slice(0, most - 1), note], isCut: true };
  };
  return stack(
    where,
    value(before, after === undefined ? "removed" : "before"),
    value(after, before === undefined ? "added" : "after"),
  );
}

/** Characters of a long value that are shown before its first difference. */
const lead = 30;

/** Returns the position from which two long values are shown, so that a cut does not hide their difference. */
function startOfDifference(oldValue = "", newValue = ""): number {
  let equal = 0;
  while (equal < oldValue.length && oldValue[equal] === newValue[equal]) equal++;
  return equal > 4 * lead ? equal - lead : 0;
}
