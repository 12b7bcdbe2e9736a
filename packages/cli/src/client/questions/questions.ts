import type { CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitParams, ElicitResult } from "mcparley";
import type { InputRequestSource, ElicitHandler, SampleHandler } from "mcparley/client";
import type { CommandIo } from "../io.ts";
import type { ClientOptions } from "../options.ts";
import { type Screen, paragraph } from "../screen.ts";
import type { Stop } from "../stop.ts";
import { visibleLine } from "../terminal-text.ts";
import { askForm, choose } from "./ask-form.ts";
import { askUrl } from "./ask-url.ts";
import { type Field, type FieldValue, InvalidField, fieldsOf } from "./form-fields.ts";
import { type Prompter, isAttended, talk, whyUnasked } from "./prompter.ts";

/** Answers the server's requests with the options or with the user at the terminal. */
export interface Questions {
  readonly elicit: ElicitHandler;
  /** Undefined without `--sample`, because the client has no model. */
  readonly sample: SampleHandler | undefined;
  /** Asks a question of the command itself. Returns undefined if there is no terminal. */
  confirm(message: string): Promise<boolean> | undefined;
  /** The names of the answers that no question asked for. */
  unasked(): string[];
}

interface Setting {
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly options: ClientOptions;
  readonly stop: Stop;
}

export function createQuestions(setting: Setting): Questions {
  const { options, stop } = setting;
  const canAsk = isAttended(setting);
  const asked = new Set<string>();
  return {
    elicit: (question, asker) => {
      if (question.mode === "url") return elicitUrl(question, asker, { ...setting, canAsk });
      for (const name of Object.keys(question.requestedSchema.properties)) asked.add(name);
      return elicitForm(question, asker, { ...setting, canAsk });
    },
    sample: options.sample === undefined ? undefined : (request) => cannedSample(request, options.sample!, setting),
    unasked: () => Object.keys(options.answers).filter((name) => !asked.has(name)),
    confirm: (message) => (canAsk ? confirm(message, { ...setting, canAsk }, stop.signal) : undefined),
  };
}

interface Asking extends Setting {
  readonly canAsk: boolean;
}

async function elicitForm(
  question: ElicitFormParams,
  asker: InputRequestSource,
  asking: Asking,
): Promise<ElicitResult> {
  const { options, screen } = asking;
  const fields = fieldsOf(question.requestedSchema, asker.check);
  const given = readAnswers(fields, options.answers);
  for (const problem of given.problems) screen.note(screen.err.style.yellow(visibleLine(problem)));
  const complete = given.missing.length === 0 && given.problems.length === 0 && fields.length > 0;
  const mayAnswer = options.yes || (!asking.canAsk && given.values.size > 0);
  if (complete && mayAnswer) {
    screen.note(`Answered ${nameOf(question)} of ${whoAsks(asker)} with ${fields.map(({ name }) => name).join(", ")}.`);
    return { action: "accept", content: withDefaults(fields, given.values) };
  }
  if (!asking.canAsk) return declineUnseen(question, given.missing, { asker, asking });
  return answerIn(asking, asker.signal, (prompter) => {
    introduce(question, asker, { prompter, screen });
    return askForm(fields, given.values, { prompter, view: screen.err });
  });
}

async function elicitUrl(
  question: ElicitParams & { mode: "url" },
  asker: InputRequestSource,
  asking: Asking,
): Promise<ElicitResult> {
  const { io, screen } = asking;
  if (!asking.canAsk) return declineUnseen(question, [], { asker, asking });
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
  return says === undefined ? visibleLine(target) : `${visibleLine(target)} ("${visibleLine(says)}")`;
}

function nameOf({ message }: ElicitParams): string {
  const line = visibleLine(message);
  return `"${line.length > 60 ? `${line.slice(0, 59)}…` : line}"`;
}

function declineUnseen(
  question: ElicitParams,
  missing: readonly string[],
  { asker, asking }: { asker: InputRequestSource; asking: Asking },
): ElicitResult {
  const why = whyUnasked(asking.options);
  const cure = missing.length > 0 ? ` Answer it with ${missing.map((name) => `--answer ${name}=...`).join(" ")}` : "";
  asking.screen.note(visibleLine(`Declined ${nameOf(question)} of ${whoAsks(asker)}, because ${why}.${cure}`));
  return { action: "decline" };
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
      problems.push(`--answer ${field.name}=${answers[field.name]}: ${error.message}`);
    }
  }
  const missing = fields.filter((field) => field.required && field.default === undefined && !values.has(field.name));
  return { values, missing: missing.map(({ name }) => name), problems };
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
