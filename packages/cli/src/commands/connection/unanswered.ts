import type { ElicitParams } from "mcparley";
import type { InputRequestSource } from "mcparley/client";
import type { FormField } from "@mcparley/host";
import { withSafeUrls } from "@mcparley/internal/secret-values";
import { type Field, listChoices } from "../../terminal/questions/form-fields.ts";
import { serverLines } from "../../terminal/questions/server-text.ts";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { type Screen, paragraph } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";

/** A question of a server that nobody answered, as a document of `--json` has it. */
export interface UnansweredQuestion {
  readonly mode: "form" | "url";
  readonly message: string;
  /** The name that the server has for itself. */
  readonly server?: string | undefined;
  /** The request during which the server asked, such as `tools/call "book"`. */
  readonly during?: string | undefined;
  /** The reason why nobody answered. */
  readonly reason: string;
  /** The page to visit. */
  readonly url?: string;
  readonly fields?: readonly object[];
  /** The required fields without an answer. */
  readonly missing?: readonly string[];
  /** One text for each invalid answer. */
  readonly problems?: readonly string[];
  /** The options that answer the missing fields. */
  readonly options?: readonly string[];
}

/** Ends a command whose server asked questions that nobody answered. They are already shown as text. */
export class UnansweredError extends Error {
  override readonly name = "UnansweredError";
  readonly questions: readonly UnansweredQuestion[];
  /** The result that the server returned without the answers. */
  readonly result: unknown;

  /** `cause` is the error with which the call ended, and `result` its result. */
  constructor(questions: readonly UnansweredQuestion[], { result, cause }: { result?: unknown; cause?: unknown } = {}) {
    const count = questions.length === 1 ? "a question" : `${questions.length} questions`;
    const reasons = [...new Set(questions.map(({ reason }) => reason))].join(", and ");
    super(`The server asked ${count} that nobody answered, because ${reasons}.`, { cause });
    this.questions = questions;
    this.result = result;
  }
}

/** A form and the state of its answers. */
export interface OpenForm {
  readonly fields: readonly FormField[];
  /** The names of the required fields without an answer. */
  readonly missing: readonly string[];
  readonly problems: readonly string[];
}

/** Returns the record of a question that nobody answers. `form` is undefined for a URL. */
export function unansweredQuestion(
  question: ElicitParams,
  { server, during }: InputRequestSource,
  { reason, form }: { readonly reason: string; readonly form?: OpenForm },
): UnansweredQuestion {
  const base = { message: question.message, server: server?.name, during, reason };
  if (question.mode === "url") return { mode: "url", ...base, url: question.url };
  const { fields = [], missing = [], problems = [] } = form ?? {};
  const options = optionsFor(fields, missing);
  return { mode: "form", ...base, fields: fields.map(fieldDocument), missing, problems, options };
}

/** Returns a field for the document of `--json`, with the limits of its type. */
function fieldDocument({ name, title, description, isRequired, input }: FormField): object {
  const base = { name, title, description, required: isRequired };
  switch (input.type) {
    case "number": {
      const { isInteger, minimum, maximum, initial } = input;
      return { ...base, type: isInteger ? "integer" : "number", minimum, maximum, default: initial };
    }
    case "choice":
      return { ...base, type: "choice", choices: input.options, default: input.initial };
    case "choices": {
      const { options, minItems, maxItems, initial } = input;
      return { ...base, type: "choices", choices: options, minItems, maxItems, default: initial };
    }
    case "boolean":
      return { ...base, type: "boolean", default: input.initial };
    default: {
      const { minLength, maxLength, pattern, format, initial } = input;
      return { ...base, type: "text", format, minLength, maxLength, pattern, default: initial };
    }
  }
}

/** Returns the options that answer a form: its missing fields, or else each field. */
function optionsFor(fields: readonly FormField[], missing: readonly string[]): string[] {
  const names = missing.length > 0 ? missing : fields.map(({ name }) => name);
  return names.map((name) => `--answer ${quotedWord(`${name}=...`)}`);
}

/** Shows a question that nobody answers, with all its fields, and how to answer it. */
export function showUnanswered(
  question: UnansweredQuestion,
  fields: readonly Field[],
  { screen, who }: { screen: Screen; who: string },
): void {
  const { err: view } = screen;
  const during = question.during === undefined ? "" : ` in ${visibleLine(question.during)}`;
  screen.noteParagraph(`Declined a question of ${who}${during}, because ${question.reason}:`);
  screen.note(serverLines(question.message, view).join("\n"));
  if (question.url !== undefined) {
    screen.note(paragraph(visibleLine(question.url), view, "  "));
    screen.noteParagraph("A page is only opened at a terminal. Run the command there.");
    return;
  }
  for (const field of fields) screen.note(paragraph(fieldText(field), view, "  "));
  const { options = [], missing = [] } = question;
  if (options.length === 0)
    screen.noteParagraph("It has no fields, and asks for a yes or a no. Run the command at a terminal.");
  else if (missing.length > 0) screen.noteParagraph(`Answer it with ${options.join(" ")}`);
  else screen.noteParagraph(`Answer it with one or more of ${options.join(" ")}`);
}

/** Returns the name, the expected value and the choices of a field on one line. */
function fieldText(field: Field): string {
  const { name, title, description, isRequired, expects, choices, default: initial } = field;
  const values = choices.length > 0 ? listChoices(field) : expects;
  const facts = [
    isRequired ? "required" : "optional",
    ...(initial === undefined ? [] : [`default ${JSON.stringify(initial)}`]),
    ...(title === name ? [] : [title]),
    ...(description === undefined ? [] : [description]),
  ];
  return visibleLine(`${name}: ${values} (${facts.join("; ")})`);
}

/** Returns the name of the peer that asks. The target comes first, because it is trusted and the server's own name is not. */
export function whoAsks({ target, server }: Pick<InputRequestSource, "target" | "server">): string {
  const ownName = server?.title ?? server?.name;
  const safeTarget = visibleLine(withSafeUrls(target));
  return ownName === undefined ? safeTarget : `${safeTarget} ("${visibleLine(ownName)}")`;
}
