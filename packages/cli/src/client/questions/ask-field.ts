import type { Style } from "../style.ts";
import { paragraph } from "../screen.ts";
import type { View } from "../screen.ts";
import { visibleLine } from "../terminal-text.ts";
import { type Field, type FieldValue, InvalidField } from "./field.ts";
import type { Prompter } from "./prompter.ts";

/** What a person may type instead of an answer. */
export type Refusal = "decline" | "cancel";

const refusals = new Map<string, Refusal>([
  ["/decline", "decline"],
  ["/cancel", "cancel"],
]);

/**
 * Asks for one field until what is typed fits it. Nothing typed takes `current`, or leaves an optional field out.
 *
 * Gives undefined for a field that is left out.
 */
export async function askField(
  field: Field,
  current: FieldValue | undefined,
  { prompter, view }: { prompter: Prompter; view: View },
): Promise<{ value: FieldValue | undefined } | Refusal> {
  prompter.say(describeField(field, view));
  for (;;) {
    const typed = await prompter.ask(promptFor(field, current, view.style));
    const refusal = refusals.get(typed.trim().toLowerCase());
    if (refusal) return refusal;
    if (typed.trim() === "") {
      if (current !== undefined || !field.required) return { value: current };
      prompter.say(view.style.yellow("  This one is required."));
      continue;
    }
    try {
      return { value: field.read(typed) };
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error;
      prompter.say(view.style.yellow(`  ${visibleLine(error.message)}`));
    }
  }
}

function describeField(field: Field, view: View): string {
  const { bold, dim } = view.style;
  const facts = `${field.expects}${field.required ? ", required" : ", optional"}`;
  const lines = ["", `${bold(visibleLine(field.title))} ${dim(`(${visibleLine(facts)})`)}`];
  if (field.description !== undefined) lines.push(paragraph(field.description, view, "  "));
  for (const [index, { value, title }] of field.choices.entries()) {
    const also = value === title ? "" : dim(` (${visibleLine(value)})`);
    lines.push(`  ${index + 1}. ${visibleLine(title)}${also}`);
  }
  return lines.join("\n");
}

function promptFor(field: Field, current: FieldValue | undefined, { dim }: Style): string {
  if (current !== undefined) return `  ${dim(`[Enter: ${showValue(field, current)}]`)} > `;
  return field.required ? "  > " : `  ${dim("[Enter: leave out]")} > `;
}

/** A value as its field shows it: titles for choices, yes and no for booleans. */
export function showValue(field: Field, value: FieldValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((one) => titleOf(field, one)).join(", ") || "none";
  return visibleLine(typeof value === "string" ? titleOf(field, value) : String(value));
}

function titleOf({ choices }: Field, value: string): string {
  return visibleLine(choices.find((choice) => choice.value === value)?.title ?? value);
}
