import { formModel } from "@mcparley/internal/form-model";
import { withSafeUrls } from "@mcparley/internal/secret-values";
import type { CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitParams, ElicitResult } from "mcparley";
import type { InputRequestSource, ElicitHandler, SampleHandler } from "mcparley/client";
import { type Screen, paragraph } from "../../terminal/screen.ts";
import type { ConnectionOptions } from "./options.ts";
import { visibleLine } from "../../terminal/text.ts";
import { askForm } from "../../terminal/questions/ask-form.ts";
import { askUrl } from "../../terminal/questions/ask-url.ts";
import { choose } from "../../terminal/questions/choose.ts";
import {
  type Field,
  type FieldValue,
  InvalidChoice,
  InvalidField,
  fieldsOf,
  listChoices,
} from "../../terminal/questions/form-fields.ts";
import { type Prompter, type TalkSetting, isAttended, talk, whyUnasked } from "../../terminal/questions/prompter.ts";

/** Answers the server's requests with the options or with the user at the terminal. */
export interface Questions {
  readonly elicit: ElicitHandler;
  /** Undefined without `--sample`, because the client has no model. */
  readonly sample: SampleHandler | undefined;
  /** Asks a question of the command itself. Returns undefined if there is no terminal. */
  confirm(message: string): Promise<boolean> | undefined;
  /** The names of the answers that no question asked for. */
  unusedAnswers(): string[];
  /** Whether a form was declined because its answers of `--answer` are invalid or not all that it requires. */
  hasRejectedAnswers(): boolean;
}

/** The terminal of the questions, and the answers of the command line. */
interface Setting extends TalkSetting {
  readonly options: Pick<ConnectionOptions, "noInput" | "answer" | "sample" | "sendAnswers">;
}

export function createQuestions(setting: Setting): Questions {
  const { stop } = setting;
  const { answer: answers = {}, sample } = setting.options;
  const canAsk = isAttended(setting);
  const askedNames = new Set<string>();
  let hasRejected = false;
  const asking = { ...setting, canAsk, onRejected: () => void (hasRejected = true) };
  return {
    elicit: (question, asker) => {
      if (question.mode === "url") return elicitUrl(question, asker, asking);
      for (const name of Object.keys(question.requestedSchema.properties)) askedNames.add(name);
      return elicitForm(question, asker, asking);
    },
    sample: sample === undefined ? undefined : (request) => cannedSample(request, sample, setting),
    unusedAnswers: () => Object.keys(answers).filter((name) => !askedNames.has(name)),
    hasRejectedAnswers: () => hasRejected,
    confirm: (message) => (canAsk ? confirm(message, asking, stop.signal) : undefined),
  };
}

interface Asking extends Setting {
  readonly canAsk: boolean;
  /** Called if a form is declined although the command line has answers to it. */
  readonly onRejected: () => void;
}

async function elicitForm(
  question: ElicitFormParams,
  asker: InputRequestSource,
  asking: Asking,
): Promise<ElicitResult> {
  const { options, screen } = asking;
  const { answer: answers = {} } = options;
  const form = formModel(question.requestedSchema, asker.check);
  const fields = fieldsOf(form);
  const answer = readAnswers(fields, answers);
  for (const problem of answer.problems) screen.noteParagraph(problem, screen.err.style.yellow);
  const complete = answer.missing.length === 0 && answer.problems.length === 0 && fields.length > 0;
  const mayAnswer = options.sendAnswers || (!asking.canAsk && answer.values.size > 0);
  if (complete && mayAnswer) {
    screen.note(`Answered ${nameOf(question)} of ${whoAsks(asker)} with ${fields.map(({ name }) => name).join(", ")}.`);
    return { action: "accept", content: withDefaults(fields, answer.values) };
  }
  if (!asking.canAsk) {
    if (answer.values.size > 0 || answer.problems.length > 0) asking.onRejected();
    const open = fields.filter(({ name }) => answer.missing.includes(name) && !Object.hasOwn(answers, name));
    const why = answer.problems.length > 0 ? "an --answer is not valid" : whyUnasked(options);
    return declineUnseen(question, { why, cure: cureFor(open) }, { asker, screen });
  }
  return answerIn(asking, asker.signal, (prompter) => {
    introduce(question, asker, { prompter, screen });
    return askForm({ fields, answers: answer.values, check: form.check }, { prompter, view: screen.err });
  });
}

async function elicitUrl(
  question: ElicitParams & { mode: "url" },
  asker: InputRequestSource,
  asking: Asking,
): Promise<ElicitResult> {
  const { io, screen, options } = asking;
  if (!asking.canAsk) return declineUnseen(question, { why: whyUnasked(options), cure: "" }, { asker, screen });
  return answerIn(asking, asker.signal, (prompter) => {
    introduce(question, asker, { prompter, screen });
    return askUrl(question.url, (url) => io.openUrl(url), { prompter, view: screen.err });
  });
}

/** A dialog that was interrupted counts as cancelled. */
async function answerIn(
  asking: Asking,
  signal: AbortSignal,
  run: (prompter: Prompter) => Promise<ElicitResult>,
): Promise<ElicitResult> {
  return (await talk(asking, signal, run)) ?? { action: "cancel" };
}

async function confirm(message: string, asking: Asking, signal: AbortSignal): Promise<boolean> {
  const keys = { y: true, n: false };
  return (await talk(asking, signal, (prompter) => choose(`${message} [y]es or [n]o? `, keys, prompter))) ?? false;
}

function introduce(
  question: ElicitParams,
  asker: InputRequestSource,
  { prompter, screen }: { prompter: Prompter; screen: Screen },
): void {
  const { bold } = screen.err.style;
  prompter.say(
    `\n${bold(`${whoAsks(asker)} asks${asker.during === undefined ? "" : ` in ${visibleLine(asker.during)}`}:`)}`,
  );
  prompter.say(paragraph(question.message, screen.err, "  "));
}

/** The target comes first, because it is trusted and the server's own name is not. */
function whoAsks({ target, server }: InputRequestSource): string {
  const says = server?.title ?? server?.name;
  const safeTarget = visibleLine(withSafeUrls(target));
  return says === undefined ? safeTarget : `${safeTarget} ("${visibleLine(says)}")`;
}

function nameOf({ message }: ElicitParams): string {
  const line = visibleLine(message);
  return `"${line.length > 60 ? `${line.slice(0, 59)}…` : line}"`;
}

function declineUnseen(
  question: ElicitParams,
  { why, cure }: { why: string; cure: string },
  { asker, screen }: { asker: InputRequestSource; screen: Screen },
): ElicitResult {
  screen.noteParagraph(`Declined ${nameOf(question)} of ${whoAsks(asker)}, because ${why}.${cure}`);
  return { action: "decline" };
}

/** Returns the options that answer these fields, and the values that are possible. */
function cureFor(fields: readonly Field[]): string {
  if (fields.length === 0) return "";
  const options = fields.map(({ name }) => `--answer ${name}=...`).join(" ");
  const values = fields.flatMap((field) => {
    const possibleValues = field.choices.length > 0 ? listChoices(field) : field.expects;
    return possibleValues === "text" ? [] : [`${field.name}: ${possibleValues}`];
  });
  return ` Answer it with ${options}${values.length > 0 ? ` (${values.join("; ")})` : ""}`;
}

function cannedSample(request: CreateMessageParams, text: string, { screen }: Setting): CreateMessageResult {
  const count = request.messages.length;
  screen.note(`The server asked for a model (${count} message${count === 1 ? "" : "s"}); --sample answered.`);
  return { role: "assistant", content: { type: "text", text }, model: "mcparley --sample", stopReason: "endTurn" };
}

/** The answers of `--answer` to a form. */
interface GivenAnswers {
  readonly values: ReadonlyMap<string, FieldValue>;
  /** Required fields with neither an answer nor a default. */
  readonly missing: readonly string[];
  /** One message for each invalid answer. */
  readonly problems: readonly string[];
}

/** Converts the answers of the command line to the types of the fields. */
export function readAnswers(fields: readonly Field[], answers: Readonly<Record<string, string>>): GivenAnswers {
  const values = new Map<string, FieldValue>();
  const problems: string[] = [];
  for (const field of fields) {
    if (!Object.hasOwn(answers, field.name)) continue;
    try {
      values.set(field.name, field.read(answers[field.name]!));
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error;
      problems.push(`--answer ${field.name}=${answers[field.name]}: ${explain(error, field)}`);
    }
  }
  const missing = fields.filter((field) => field.isRequired && !values.has(field.name) && !hasDefault(field));
  return { values, missing: missing.map(({ name }) => name), problems };
}

/** Whether a field has a value without an answer. No choice is one that only a person can confirm. */
function hasDefault({ default: value }: Field): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Returns the message of an invalid answer of the command line. Its user does not see the numbers of the choices. */
function explain(error: InvalidField, field: Field): string {
  if (!(error instanceof InvalidChoice)) return error.message;
  return `${JSON.stringify(error.text)} is not a choice. The choices are: ${listChoices(field)}.`;
}

/** Returns the answers, and the defaults of the other fields. */
export function withDefaults(
  fields: readonly Field[],
  values: ReadonlyMap<string, FieldValue>,
): Record<string, FieldValue> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = values.get(field.name) ?? field.default;
      return value === undefined ? [] : [[field.name, value] as const];
    }),
  );
}
