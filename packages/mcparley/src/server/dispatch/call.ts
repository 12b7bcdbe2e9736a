import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import { notification, type JsonObject, type JsonRpcMessage, type RequestId } from "../../rpc/messages.ts";
import { readInputResponses } from "../../mcp/input-required.ts";
import { type LoggingLevel, isLoggable, loggingLevels } from "../../mcp/logging.ts";
import { Notification } from "../../mcp/methods.ts";
import type { ProgressToken } from "../../mcp/progress.ts";
import type { Encoder } from "../../mcp/revisions/encoder.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { Asking, Question } from "../input/input-channel.ts";
import type { Context, FormQuestion, Logger, Peer, Principal, UrlQuestion } from "./context.ts";
import type { ServerCore } from "../core.ts";
import type { Schema } from "../definition.ts";
import type * as Questions from "../input/elicit.ts";
import type { Session } from "../protocol/session.ts";

/** The way to the peer for what is said about one request before its answer. */
export interface Link {
  send(message: JsonRpcMessage): void;
  /** What the messages travel over; undefined within a process. */
  readonly network?: "tcp" | "pipe" | undefined;
}

/** How a handler goes on that outlives its request. */
export interface Afterlife {
  asking: Asking;
  progress: Context["progress"];
}

export interface CallInit {
  core: ServerCore;
  revision: Revision;
  /** How the revision says what the call is answered with. */
  encoder: Encoder;
  id: RequestId;
  method: string;
  params: JsonObject;
  peer: Peer;
  principal: Principal | undefined;
  link: Link;
  /** The level that the client wants log messages from; undefined sends none. */
  logLevel: LoggingLevel | undefined;
  /** Undefined on modern revisions, which have none. */
  session: Session | undefined;
}

const noMeta: JsonObject = Object.freeze({});

/** Why a call was given up that its client cancelled; the reason is for whoever debugs it. */
export function cancelledFor(reason: unknown): LocalError {
  const said = typeof reason === "string" ? reason.slice(0, 200) : "no reason given";
  return new LocalError("aborted", `The client cancelled the request: ${said}`);
}

/**
 * One inbound request together with everything its handler may need: it is the handler's context.
 *
 * It is the one object that a request costs; what few handlers use (the signal, the logger) is made on first use.
 */
export class Call implements Context {
  readonly core: ServerCore;
  readonly revision: Revision;
  readonly encoder: Encoder;
  readonly id: RequestId;
  readonly method: string;
  params: JsonObject;
  peer: Peer;
  readonly principal: Principal | undefined;
  readonly session: Session | undefined;
  /** The URI of the resource being read, as the client gave it. */
  uri = "";
  /** Ends a stream from this side, with its graceful result; only calls that are open streams have it. */
  end: (() => void) | undefined;
  readonly #link: Link;
  readonly #logLevel: LoggingLevel | undefined;
  #controller: AbortController | undefined;
  #cancelled: Error | undefined;
  #settled = false;
  #progress = -Infinity;
  #asking: Promise<Asking> | undefined;
  #askingNow: Asking | undefined;
  #log: Logger | undefined;
  #afterlife: Afterlife | undefined;

  constructor(init: CallInit) {
    this.core = init.core;
    this.revision = init.revision;
    this.encoder = init.encoder;
    this.id = init.id;
    this.method = init.method;
    this.params = init.params;
    this.peer = init.peer;
    this.principal = init.principal;
    this.session = init.session;
    this.#link = init.link;
    this.#logLevel = init.logLevel;
  }

  /** What the messages of this call travel over; undefined within a process. */
  get network(): "tcp" | "pipe" | undefined {
    return this.#link.network;
  }

  get meta(): JsonObject {
    return (this.params._meta as JsonObject | undefined) ?? noMeta;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#cancelled) this.#controller.abort(this.#cancelled);
    return this.#controller.signal;
  }

  /** Whether the client gave the call up: then nothing may be sent about it any more. */
  get cancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /**
   * How this call asks its client, from where its rounds before left off. Rejects where the state that the request
   * carries belongs to another call. What it takes is loaded when a handler asks first, as few ever do.
   */
  get asking(): Promise<Asking> {
    this.#asking ??= import("../input/ask-client.ts").then(({ askClient }) => askClient(this, this.#link));
    this.#asking.then(
      (asking) => {
        this.#askingNow = asking;
      },
      () => {},
    );
    return this.#asking;
  }

  /** The same, where a handler has asked or the request carries a state; otherwise there is nothing to go on from. */
  get startedAsking(): Promise<Asking> | undefined {
    return this.#asking;
  }

  /**
   * Lets the handler of this call outlive its request: it asks, and reports its progress, in another way from then on.
   * Returns what aborts its signal.
   */
  outlive(way: Afterlife): (reason: Error) => void {
    this.#asking = Promise.resolve(way.asking);
    this.#askingNow = way.asking;
    this.#afterlife = way;
    return (reason) => {
      this.#controller ??= new AbortController();
      this.#controller.abort(reason);
    };
  }

  get inputResponses(): JsonObject {
    if (this.#askingNow) return this.#askingNow.inputResponses;
    return this.session ? noMeta : readInputResponses(this.params);
  }

  get requestState(): string | undefined {
    return this.#askingNow?.requestState;
  }

  get log(): Logger {
    this.#log ??= Object.fromEntries(
      loggingLevels.map((level) => [level, (data: unknown, logger?: string) => this.#sendLog(level, data, logger)]),
    ) as unknown as Logger;
    return this.#log;
  }

  /** Gives the call up: aborts its signal and silences it. Does nothing once it is answered. */
  cancel(reason: Error): void {
    if (this.#settled || this.#cancelled) return;
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }

  /** Marks the call as answered: what its handler reports afterwards is not sent. */
  settle(): void {
    this.#settled = true;
  }

  /** Sends a notification that belongs to this call, unless it is answered or given up. */
  notify(method: string, params: JsonObject): void {
    if (this.#settled || this.#cancelled) return;
    this.#link.send(notification(method, params));
  }

  // What a handler uses is bound to its call, so that it can take its context apart: `({ progress, elicit }) => ...`.
  get progress(): Context["progress"] {
    return (done, total, message) => this.#report(done, total, message);
  }

  get elicit(): Context["elicit"] {
    return ((question: FormQuestion<Schema> | UrlQuestion) =>
      this.#ask(({ formQuestion, urlQuestion }) =>
        "url" in question ? urlQuestion(question) : formQuestion(question),
      )) as Context["elicit"];
  }

  get sample(): Context["sample"] {
    return (params) => this.#ask(({ samplingQuestion }) => samplingQuestion(params));
  }

  get roots(): Context["roots"] {
    return () => this.#ask(({ rootsQuestion }) => rootsQuestion());
  }

  get once(): Context["once"] {
    return async (key, fn) => (await this.asking).once(key, fn);
  }

  async #ask<T>(make: (questions: typeof Questions) => Question<T>): Promise<T> {
    const asking = await this.asking;
    return asking.ask(make(await import("../input/elicit.ts")));
  }

  #report(done: number, total: number | undefined, message: string | undefined): void {
    const token = this.meta.progressToken as ProgressToken | undefined;
    if ((token === undefined && !this.#afterlife) || !(done > this.#progress)) return;
    this.#progress = done;
    if (this.#afterlife) return this.#afterlife.progress(done, total, message);
    const params: JsonObject = { progressToken: token, progress: done };
    if (total !== undefined) params.total = total;
    if (message !== undefined) params.message = message;
    this.notify(Notification.progress, this.encoder.progress(params));
  }

  #sendLog(level: LoggingLevel, data: unknown, logger: string | undefined): void {
    const minimum = this.session ? this.session.logLevel : this.#logLevel;
    if (minimum === undefined || !isLoggable(level, minimum)) return;
    this.notify(Notification.message, logger === undefined ? { level, data } : { level, logger, data });
  }
}

/** Returns the context of a call's handler: the call, with the properties that the option `context` adds. */
export function handlerContext(call: Call, { definition }: ServerCore = call.core): Awaitable<any> {
  const { context } = definition;
  if (!context) return call;
  const added = context(call);
  return isPromise(added) ? added.then((more) => Object.assign(call, more)) : Object.assign(call, added);
}
