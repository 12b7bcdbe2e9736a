import type { ElicitResult } from "mcparley";
import { type View, paragraph } from "../screen.ts";
import { type Style, visibleLine } from "../terminal-text.ts";
import { type Field, type FieldValue, InvalidField } from "./form-fields.ts";
import type { Prompter } from "./prompter.ts";

interface Talk {
  readonly prompter: Prompter;
  readonly view: View;
}

/**
 * Asks for a form field by field, shows all values and sends them only if the user agrees. `given` contains existing
 * answers.
 *
 * A user must be able to review and change the answers before they are sent, and to decline or cancel at any point
 * (client/elicitation, User Interaction Model).
 */
export async function askForm(
  fields: readonly Field[],
  given: ReadonlyMap<string, FieldValue>,
  talk: Talk,
): Promise<ElicitResult> {
  if (fields.length === 0) return agree(talk);
  talk.prompter.say(
    talk.view.style.dim(
      "Your answers are sent only after you confirm them. Type /decline to decline, /cancel to cancel.",
    ),
  );
  const values = new Map(given);
  let open = fields.filter(({ name }) => !values.has(name));
  for (;;) {
    const refusal = await fill(open, values, talk);
    if (refusal) return { action: refusal };
    const decision = await review(fields, values, talk);
    if (decision === "send") return { action: "accept", content: Object.fromEntries(values) };
    if (decision !== "edit") return { action: decision };
    open = [...fields];
  }
}

async function fill(open: readonly Field[], values: Map<string, FieldValue>, talk: Talk): Promise<Refusal | undefined> {
  for (const field of open) {
    const answer = await askField(field, values.get(field.name) ?? field.default, talk);
    if (typeof answer === "string") return answer;
    if (answer.value === undefined) values.delete(field.name);
    else values.set(field.name, answer.value);
  }
  return undefined;
}

type Decision = "send" | "edit" | Refusal;

function review(fields: readonly Field[], values: ReadonlyMap<string, FieldValue>, talk: Talk): Promise<Decision> {
  const { bold, dim } = talk.view.style;
  const lines = fields.map((field) => {
    const value = values.get(field.name);
    return `  ${visibleLine(field.title)}: ${value === undefined ? dim("no answer") : showValue(field, value)}`;
  });
  talk.prompter.say(["", bold("Your answer:"), ...lines].join("\n"));
  const keys = { s: "send", y: "send", e: "edit", d: "decline", n: "decline", c: "cancel" } as const;
  return choose("[s]end, [e]dit, [d]ecline or [c]ancel? ", keys, talk.prompter);
}

/** A form without fields only asks for confirmation. */
async function agree({ prompter }: Talk): Promise<ElicitResult> {
  const keys = { y: "accept", n: "decline", d: "decline", c: "cancel" } as const;
  const action = await choose("[y]es, [n]o (decline) or [c]ancel? ", keys, prompter);
  return action === "accept" ? { action, content: {} } : { action };
}

/** Asks until the first letter of the typed text is one of the keys. There is no default. */
export async function choose<T extends string | boolean>(
  prompt: string,
  keys: Readonly<Record<string, T>>,
  prompter: Prompter,
): Promise<T> {
  for (;;) {
    const letter = (await prompter.ask(prompt)).trim().replace(/^\//, "").charAt(0).toLowerCase();
    const chosen = Object.hasOwn(keys, letter) ? keys[letter] : undefined;
    if (chosen !== undefined) return chosen;
  }
}

/** The words that refuse a form. */
type Refusal = "decline" | "cancel";

const refusals = new Map<string, Refusal>([
  ["/decline", "decline"],
  ["/cancel", "cancel"],
]);

/**
 * Asks for one field until the typed text is valid. An empty line takes `current`, or leaves an optional field out.
 *
 * Returns undefined for a field that is left out.
 */
async function askField(
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
      prompter.say(view.style.yellow("  This field is required."));
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
  return field.required ? "  > " : `  ${dim("[Enter: skip]")} > `;
}

/** Returns a value as its field shows it: titles for choices, yes and no for booleans. */
function showValue(field: Field, value: FieldValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((one) => titleOf(field, one)).join(", ") || "none";
  return visibleLine(typeof value === "string" ? titleOf(field, value) : String(value));
}

function titleOf({ choices }: Field, value: string): string {
  return visibleLine(choices.find((choice) => choice.value === value)?.title ?? value);
}
