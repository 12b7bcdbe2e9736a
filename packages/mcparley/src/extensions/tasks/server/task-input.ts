import { ProtocolError } from "../../../rpc/errors.ts";
import { ToolError } from "../../../mcp/errors.ts";
import type { JsonObject, Prepared } from "../../../rpc/messages.ts";
import {
  type Asking,
  InvalidAnswer,
  type Question,
  type Recorded,
  type Run,
  capabilityFor,
  requireCapability,
  readAnswer,
} from "../../../server/input/asking.ts";
import type { Call } from "../../../server/dispatch/call.ts";
import { InputRequired } from "../../../server/input/input-required.ts";
import { type TaskQuestion, type TaskRecord, withQuestions } from "./record.ts";

/** So often one question is asked whose answers do not fit, and so often a handler may return `inputRequired`. */
const maxRounds = 32;

interface Asked {
  key: string;
  method: string;
  params: JsonObject;
  resolve(answer: NonNullable<TaskQuestion["answer"]>): void;
  reject(error: unknown): void;
}

export interface TaskAskingInit {
  call: Call;
  record: TaskRecord;
  /** How many questions without a key were asked before the task began. */
  order: number;
  /** Changes the task, as long as it is this run's to change. */
  update: (change: (record: TaskRecord) => TaskRecord | undefined) => Promise<unknown>;
}

/**
 * Asks through the task: its questions are kept with it, and the handler waits until the client has answered them
 * (SEP-2663, Task Update Requests).
 */
export class TaskAsking implements Asking {
  inputResponses: JsonObject = {};
  requestState: string | undefined;
  readonly #init: TaskAskingInit;
  /** The answers of rounds before, by the handler's key: of the request, and of the runs before this one. */
  readonly #answers: Map<string, NonNullable<TaskQuestion["answer"]>>;
  readonly #recorded: Map<string, unknown>;
  readonly #running = new Map<string, Promise<unknown>>();
  /** The questions that wait, by their id. */
  readonly #waiting = new Map<string, Asked>();
  /** Those that were asked in this turn, and go out together at its end. */
  #turn: Asked[] | undefined;
  /** The open questions of the runs before this one, which the client may answer before they are asked again. */
  readonly #inherited = new Map<string, string>();
  #order: number;
  #ended: Error | undefined;

  constructor(init: TaskAskingInit) {
    const { record } = init;
    this.#init = init;
    this.#order = init.order;
    this.#recorded = new Map(record.once);
    this.#answers = new Map(record.answers.map(([key, result]) => [key, { result }]));
    for (const { id, key, answer } of record.questions) {
      // The last one counts: the answers to those before it were no good.
      if (answer) this.#answers.set(key, answer);
      else {
        this.#answers.delete(key);
        this.#inherited.set(id, key);
      }
    }
  }

  async ask<T>(question: Question<T>): Promise<T> {
    const key = question.key ?? `${question.method.split("/")[0]}-${++this.#order}`;
    requireCapability(this.#init.call.peer.capabilities, question.requires);
    for (let round = 0; ; round++) {
      const answer = this.#answers.get(key) ?? (await this.#put(key, question));
      this.#answers.set(key, answer);
      if ("error" in answer) throw ProtocolError.from(answer.error);
      try {
        return await readAnswer(question, answer.result, this.#init.call.core.limits);
      } catch (error) {
        if (!(error instanceof InvalidAnswer)) throw error;
        if (round >= maxRounds) throw new ToolError(error.message, { cause: error });
        this.#answers.delete(key);
      }
    }
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    if (this.#recorded.has(key)) return Promise.resolve(this.#recorded.get(key) as T);
    const running = (this.#running.get(key) as Promise<T> | undefined) ?? this.#record(key, fn);
    this.#running.set(key, running);
    return running;
  }

  soFar(): Recorded {
    return { answers: [], once: [...this.#recorded], order: this.#order };
  }

  async interrupted(): Promise<undefined> {
    return undefined;
  }

  async goOn(wanted: InputRequired, run: Run): Promise<JsonObject | Prepared> {
    let open = wanted;
    for (let round = 0; round < maxRounds; round++) {
      this.inputResponses = await this.#answersTo(open, round);
      this.requestState = open.requestState;
      const result = await run();
      if (!(result instanceof InputRequired)) return result;
      open = result;
    }
    throw new TypeError(`The handler of a task returned inputRequired ${maxRounds} times over.`);
  }

  /** Hands over the answers that the task has got. */
  answered({ questions }: TaskRecord): void {
    for (const { id, answer } of questions) {
      if (!answer) continue;
      const inherited = this.#inherited.get(id);
      if (inherited !== undefined) this.#answers.set(inherited, answer);
      this.#inherited.delete(id);
      this.#waiting.get(id)?.resolve(answer);
      this.#waiting.delete(id);
    }
  }

  /** Ends all waiting: the task is over, or it is not this run's any more. */
  end(reason: Error): void {
    this.#ended ??= reason;
    for (const asked of [...this.#waiting.values(), ...(this.#turn ?? [])]) asked.reject(reason);
    this.#waiting.clear();
  }

  #put(key: string, { method, params }: Question): Promise<NonNullable<TaskQuestion["answer"]>> {
    if (this.#ended) return Promise.reject(this.#ended);
    const isOpen = [...this.#waiting.values(), ...(this.#turn ?? [])].some((asked) => asked.key === key);
    if (isOpen) return Promise.reject(new TypeError(`Two questions of one call have the key "${key}".`));
    return new Promise((resolve, reject) => {
      if (!this.#turn) {
        this.#turn = [];
        // In a turn of its own, so that questions asked together are seen together.
        setTimeout(() => void this.#send(), 0);
      }
      this.#turn.push({ key, method, params, resolve, reject });
    });
  }

  async #send(): Promise<void> {
    const asked = this.#turn ?? [];
    this.#turn = undefined;
    if (this.#ended) return;
    let placed: string[] = [];
    try {
      await this.#init.update((record) => {
        for (const id of placed) this.#waiting.delete(id);
        this.answered(record);
        const questions = [...record.questions];
        placed = asked.flatMap((one) => this.#place(questions, one));
        return withQuestions(record, questions);
      });
    } catch (error) {
      for (const one of asked) one.reject(error);
    }
  }

  /** Puts a question among those of the task, unless it was answered in the meantime. */
  #place(questions: TaskQuestion[], asked: Asked): string[] {
    const answer = this.#answers.get(asked.key);
    if (answer) {
      asked.resolve(answer);
      return [];
    }
    const id = place(questions, asked);
    this.#waiting.set(id, asked);
    return [id];
  }

  async #answersTo({ inputRequests }: InputRequired, round: number): Promise<JsonObject> {
    const questions = Object.entries(inputRequests).map(async ([name, { method, params = {} }]) => {
      const key = round === 0 ? name : `${name}-${round + 1}`;
      const requires = capabilityFor(method, params);
      return [name, await this.ask({ method, params, key, requires, read: (result) => result })] as const;
    });
    return Object.fromEntries(await Promise.all(questions));
  }

  async #record<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const value = await fn();
    this.#recorded.set(key, value);
    const { record, update } = this.#init;
    // Only a task that may run again needs to know.
    if (record.again) await update((now) => ({ ...now, once: [...now.once, [key, value]] }));
    return value;
  }
}

/**
 * Puts a question among the others and gives its id. The same question of a run before is that question; any other
 * gets an id that was never used (SEP-2663: keys are unique over the lifetime of a task).
 */
function place(questions: TaskQuestion[], { key, method, params }: Omit<TaskQuestion, "id">): string {
  const said = JSON.stringify(params);
  const same = questions.find(
    (one) => one.key === key && !one.answer && one.method === method && JSON.stringify(one.params) === said,
  );
  if (same) return same.id;
  // One that was asked by a run before and is asked in other words now is not waited for any more.
  const superseded = questions.findIndex((one) => one.key === key && !one.answer);
  if (superseded !== -1) questions[superseded] = { ...questions[superseded]!, answer: { result: undefined } };
  let id = key;
  for (let n = 2; questions.some((one) => one.id === id); n++) id = `${key}-${n}`;
  questions.push({ id, key, method, params });
  return id;
}
