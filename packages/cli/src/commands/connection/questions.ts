import { formModel } from "@mcparley/internal/form-model";
import type { CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitParams, ElicitResult } from "mcparley";
import type { InputRequestSource, ElicitHandler, SampleHandler } from "mcparley/client";
import { type Screen, paragraph } from "../../terminal/screen.ts";
import type { ConnectionOptions } from "./options.ts";
import { visibleLine } from "../../terminal/text.ts";
import { askForm } from "../../terminal/questions/ask-form.ts";
import { askUrl } from "../../terminal/questions/ask-url.ts";
import { choose } from "../../terminal/questions/choose.ts";
import { remarkLines } from "../../terminal/questions/dialog.ts";
import {
  type Field,
  type FieldValue,
  InvalidChoice,
  InvalidField,
  fieldsOf,
  listChoices,
} from "../../terminal/questions/form-fields.ts";
import { type UnansweredQuestion, showUnanswered, unansweredQuestion, whoAsks } from "./unanswered.ts";
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
  /** The questions that were declined because nobody could be asked and the answers of the command line are not complete. */
  unanswered(): readonly UnansweredQuestion[];
}

/** The terminal of the questions, and the answers of the command line. */
interface Setting extends TalkSetting {
  /** The name of the server in its configuration. Default: questions name its program or its URL. */
  readonly serverName?: string | undefined;
  readonly options: Pick<ConnectionOptions, "noInput" | "answer" | "sample" | "sendAnswers">;
}

export function createQuestions(setting: Setting): Questions {
  const { stop } = setting;
  const { answer: answers = {}, sample } = setting.options;
  const canAsk = isAttended(setting);
  const askedNames = new Set<string>();
  const unansweredQuestions: UnansweredQuestion[] = [];
  const onUnanswered = (question: UnansweredQuestion): void => void unansweredQuestions.push(question);
  const asking = { ...setting, canAsk, onUnanswered };
  return {
    elicit: (question, source) => {
      const asker = { ...source, target: setting.serverName ?? source.target };
      if (question.mode === "url") return elicitUrl(question, asker, asking);
      for (const name of Object.keys(question.requestedSchema.properties)) askedNames.add(name);
      return elicitForm(question, asker, asking);
    },
    sample: sample === undefined ? undefined : (request) => cannedSample(request, sample, setting),
    unusedAnswers: () => Object.keys(answers).filter((name) => !askedNames.has(name)),
    unanswered: () => unansweredQuestions,
    confirm: (message) => (canAsk ? confirm(message, asking, stop.signal) : undefined),
  };
}

interface Asking extends Setting {
  readonly canAsk: boolean;
  /** Called with a question that is declined because nobody answers it. */
  readonly onUnanswered: (question: UnansweredQuestion) => void;
}

async function elicitForm(
  question: ElicitFormParams,
  asker: InputRequestSource,
  asking: Asking,
): Promise<ElicitResult> {
  const { options, screen } = asking;
  const { answer: answers = {} } = options;
  const form = formModel(question, asker.check);
  const fields = fieldsOf(form);
  const { values, content, missing, problems } = readAnswers(fields, answers, options.sendAnswers);
  for (const problem of problems) screen.noteParagraph(problem, screen.err.style.yellow);
  const isComplete = missing.length === 0 && problems.length === 0 && fields.length > 0;
  if (isComplete && (options.sendAnswers || (!asking.canAsk && values.size > 0))) {
    const names = fields.flatMap(({ name }) => (content[name] === undefined ? [] : [visibleLine(name)])).join(", ");
    screen.note(`Answered ${nameOf(question)} of ${whoAsks(asker)} with ${names}.`);
    return { action: "accept", content };
  }
  if (!asking.canAsk) {
    const reason = problems.length > 0 ? "an --answer is not valid" : whyUnasked(options);
    return decline(question, { reason, form: { fields: form.fields, missing, problems } }, { asker, asking, fields });
  }
  return answerIn(asking, asker.signal, (prompter) => {
    introduce(question, asker, { prompter, screen });
    for (const line of remarkLines(form.remarks, screen.err)) prompter.say(line);
    return askForm({ fields, answers: values, check: form.check }, { prompter, view: screen.err });
  });
}

async function elicitUrl(
  question: ElicitParams & { mode: "url" },
  asker: InputRequestSource,
  asking: Asking,
): Promise<ElicitResult> {
  const { io, screen, options } = asking;
  if (!asking.canAsk) return decline(question, { reason: whyUnasked(options) }, { asker, asking, fields: [] });
  return answerIn(asking, asker.signal, (prompter) => {
    introduce(question, asker, { prompter, screen });
    return askUrl(question.url, (url) => io.openUrl(url), { prompter, view: screen.err });
  });
}

/** Declines a question that nobody answers, shows it, and records it for the exit code and the document of `--json`. */
function decline(
  question: ElicitParams,
  facts: Parameters<typeof unansweredQuestion>[2],
  { asker, asking, fields }: { asker: InputRequestSource; asking: Asking; fields: readonly Field[] },
): ElicitResult {
  const record = unansweredQuestion(question, asker, facts);
  showUnanswered(record, fields, { screen: asking.screen, who: whoAsks(asker) });
  asking.onUnanswered(record);
  return { action: "decline" };
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

function nameOf({ message }: ElicitParams): string {
  const line = visibleLine(message);
  return `"${line.length > 60 ? `${line.slice(0, 59)}…` : line}"`;
}

function cannedSample(request: CreateMessageParams, text: string, { screen }: Setting): CreateMessageResult {
  const count = request.messages.length;
  screen.note(`The server asked for a model (${count} message${count === 1 ? "" : "s"}); --sample answered.`);
  return { role: "assistant", content: { type: "text", text }, model: "mcparley --sample", stopReason: "endTurn" };
}

/** The answers of the command line to a form. */
interface GivenAnswers {
  /** The answers of `--answer`. */
  readonly values: ReadonlyMap<string, FieldValue>;
  /** The content that is sent: the answers, and with `usesDefaults` the defaults of the other fields. A field with undefined is left out. */
  readonly content: Record<string, FieldValue | undefined>;
  /** Required fields that have no value in the content. */
  readonly missing: readonly string[];
  /** One message for each invalid answer. */
  readonly problems: readonly string[];
}

/**
 * Converts the answers of the command line to the types of the fields. A field without an answer has its default only with `usesDefaults`:
 * otherwise nobody has agreed to it.
 */
export function readAnswers(
  fields: readonly Field[],
  answers: Readonly<Record<string, string>>,
  usesDefaults = false,
): GivenAnswers {
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
  const valueOf = (field: Field): FieldValue | undefined =>
    values.get(field.name) ?? (usesDefaults && hasDefault(field) ? field.default : undefined);
  const content = Object.fromEntries(fields.map((field) => [field.name, valueOf(field)]));
  const missing = fields.filter(({ name, isRequired }) => isRequired && content[name] === undefined);
  return { values, content, missing: missing.map(({ name }) => name), problems };
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
