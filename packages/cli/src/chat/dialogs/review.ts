import type { DefinitionChange, DefinitionKind, ReviewAnswer, ReviewRequest } from "@mcparley/host";
import { type Talk, choose } from "../../terminal/questions/choose.ts";
import { excerpt, ownLines, quoted, row } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { type Shown, chooseOrView, heading, present, remarkLines, stack } from "../../terminal/questions/dialog.ts";
import { shortChange, titleOf, wholeChange } from "./show-change.ts";

/** Asks whether new and changed definitions of a server may be used: all, none or some of them. */
export async function askReview({ server, changes }: ReviewRequest, talk: Talk): Promise<ReviewAnswer> {
  const { view } = talk;
  const title = `The server ${quoted(server)} has definitions that you have not accepted.`;
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
  const accepted: DefinitionChange[] = [];
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
    if (choice === "yes") accepted.push(change);
  }
  if (accepted.length === 0) return accepted;
  prompter.say(`\nYou accept ${accepted.length} of ${changes.length}.`);
  const isSure = await choose("Use these? [y]es or [n]o (none)? ", { y: true, n: false }, prompter);
  return isSure ? accepted : [];
}

/** Returns the counts, then what needs attention, and the names of new definitions last, because they can be many. */
function summary(changes: readonly DefinitionChange[], view: View): Shown {
  const counts = kinds.flatMap(({ kind, label }) => {
    const ofKind = changes.filter((change) => change.kind === kind);
    return ofKind.length === 0 ? [] : row(label, countsOf(ofKind), view);
  });
  const [others, plain] = [changes.filter(needsAttention), changes.filter((change) => !needsAttention(change))];
  const details = others.map((change) => {
    const definition = change.status === "new" && change.kind !== "instructions" ? [] : shortChange(change, view);
    return stack(titleOf(change, view), remarkLines(change.remarks, view), definition);
  });
  const names = kinds.flatMap(({ kind, label }) => {
    const added = plain.filter((change) => change.kind === kind);
    return added.length === 0 ? [] : row(`New ${label.toLowerCase()}`, added.map(shortName).join(", "), view);
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
  return /^[\w.:/{}?&=+*~@%#-]+$/.test(name) ? name : quoted(name);
}
