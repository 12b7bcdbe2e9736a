import type { FieldProblem, FormAnswer, FormContent } from "@mcparley/host";
import type { View } from "../screen.ts";
import { type Style, cut, visibleLine } from "../text.ts";
import { type Talk, choose } from "./choose.ts";
import { type Field, type FieldValue, InvalidField } from "./form-fields.ts";
import { excerpt, maxLines, ownLines, serverLines, shortLine } from "./server-text.ts";

/** A form to ask for. */
interface Form {
  readonly fields: readonly Field[];
  /** Existing answers. These fields are not asked for at first. */
  readonly answers?: ReadonlyMap<string, FieldValue>;
  /** Returns the problems of all answers together. Answers with a problem are not sent. Default: none. */
  readonly check?: (content: FormContent) => readonly FieldProblem[];
}

/**
 * Asks for a form field by field, shows all values and sends them only if the user agrees.
 *
 * A user must be able to review and change the answers before they are sent, and to decline or cancel at any point
 * (client/elicitation, User Interaction Model).
 */
export async function askForm({ fields, answers, check = () => [] }: Form, talk: Talk): Promise<FormAnswer> {
  if (fields.length === 0) return agree(talk);
  const { prompter, view } = talk;
  const rule = "Your answers are sent only after you confirm them. Type /decline to decline, /cancel to cancel.";
  prompter.say(view.style.dim(ownLines(rule, view, ["", ""]).join("\n")));
  const values = new Map(answers);
  let open: readonly Field[] = fields.filter(({ name }) => !values.has(name));
  for (;;) {
    const refusal = await fill(open, values, talk);
    if (refusal) return { action: refusal };
    const content = Object.fromEntries(values);
    const problems = check(content);
    const decision = await review(fields, { values, problems }, talk);
    if (decision === "send") return { action: "accept", content };
    if (decision !== "edit") return { action: decision };
    const wrong = new Set(problems.map(({ field }) => field));
    open = wrong.size > 0 && !wrong.has(undefined) ? fields.filter(({ name }) => wrong.has(name)) : fields;
  }
}

async function fill(open: readonly Field[], values: Map<string, FieldValue>, talk: Talk): Promise<Refusal | undefined> {
  for (const [index, field] of open.entries()) {
    const place = `${index + 1} of ${open.length}: `;
    const answer = await askField(field, { place, current: values.get(field.name) ?? field.default }, talk);
    if (typeof answer === "string") return answer;
    if (answer.value === undefined) values.delete(field.name);
    else values.set(field.name, answer.value);
  }
  return undefined;
}

type Decision = "send" | "edit" | Refusal;

interface Answers {
  readonly values: ReadonlyMap<string, FieldValue>;
  readonly problems: readonly FieldProblem[];
}

/** Shows all answers. Those with a problem can be edited, and not sent. */
function review(fields: readonly Field[], { values, problems }: Answers, { prompter, view }: Talk): Promise<Decision> {
  const { bold, dim, yellow } = view.style;
  const lines = fields.flatMap((field) => {
    const value = values.get(field.name);
    const text = value === undefined ? dim("no answer") : showValue(field, value);
    return ownLines(`${shortLine(field.title)}: ${text}`, view, ["  ", "    "]);
  });
  prompter.say(["", bold("Your answer:"), ...lines].join("\n"));
  const edits = { e: "edit", d: "decline", n: "decline", c: "cancel" } as const;
  if (problems.length === 0) {
    return choose("[s]end, [e]dit, [d]ecline or [c]ancel? ", { s: "send", y: "send", ...edits }, prompter);
  }
  const reasons = problems.flatMap(({ field: name, message }) => {
    const field = fields.find((one) => one.name === name);
    return ownLines(visibleLine(`${field?.title ?? "The answer"} ${message}.`), view, ["  ! ", "    "]);
  });
  prompter.say(yellow(["It cannot be sent:", ...reasons].join("\n")));
  return choose("[e]dit, [d]ecline or [c]ancel? ", edits, prompter);
}

/** A form without fields only asks for confirmation. */
async function agree({ prompter }: Talk): Promise<FormAnswer> {
  const keys = { y: "accept", n: "decline", d: "decline", c: "cancel" } as const;
  const action = await choose("[y]es, [n]o (decline) or [c]ancel? ", keys, prompter);
  return action === "accept" ? { action, content: {} } : { action };
}

/** The words that refuse a form. */
type Refusal = "decline" | "cancel";

const refusals = new Map<string, Refusal>([
  ["/decline", "decline"],
  ["/cancel", "cancel"],
]);

/**
 * Asks for one field until the typed text is valid. An empty line takes `current`, or leaves an optional field out. `place` is the position
 * in the form. It stands before the title, so that the line does not begin with a text of the server.
 *
 * Returns undefined for a field that is left out.
 */
async function askField(
  field: Field,
  { place, current }: { place: string; current: FieldValue | undefined },
  { prompter, view }: Talk,
): Promise<{ value: FieldValue | undefined } | Refusal> {
  prompter.say(describeField(field, { place, most: maxLines }, view));
  const { suggest } = field;
  for (;;) {
    const input = await prompter.ask(promptFor(field, current, view.style), suggest && { suggest });
    const word = input.trim().toLowerCase();
    const refusal = refusals.get(word);
    if (refusal) return refusal;
    if (word === "/view") {
      prompter.say(describeField(field, { place, most: Infinity }, view));
      continue;
    }
    if (word === "") {
      if (current !== undefined || !field.isRequired) return { value: current };
      prompter.say(view.style.yellow("  This field is required."));
      continue;
    }
    try {
      return { value: field.read(input) };
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error;
      prompter.say(view.style.yellow(ownLines(visibleLine(error.message), view, ["  ", "  "]).join("\n")));
    }
  }
}

function describeField(field: Field, { place, most }: { place: string; most: number }, view: View): string {
  const { bold, dim } = view.style;
  const facts = `${field.expects}${field.isRequired ? ", required" : ", optional"}`;
  const description = field.description === undefined ? [] : serverLines(field.description, view, "  ");
  const choices = field.choices.map(({ value, title }, index) => {
    const also = value === title ? "" : dim(` (${shortLine(value)})`);
    return ownLines(`${index + 1}. ${shortLine(title)}${also}`, view, ["  ", "     "]).join("\n");
  });
  const parts = [excerpt(description, view, most), excerpt(choices, view, most)];
  return [
    "",
    ...ownLines(`${place}${bold(shortLine(field.title))} ${dim(`(${facts})`)}`, view),
    ...parts.flatMap(({ lines }) => lines),
    ...(parts.some(({ isCut }) => isCut) ? [dim("  Type /view to see all lines.")] : []),
  ].join("\n");
}

/** Maximum columns of a value in a prompt. */
const shortValue = 50;

function promptFor(field: Field, current: FieldValue | undefined, { dim }: Style): string {
  if (current !== undefined) return `  ${dim(`[Enter: ${cut(showValue(field, current), shortValue)}]`)} > `;
  return field.isRequired ? "  > " : `  ${dim("[Enter: skip]")} > `;
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
