import { LocalError } from "../../rpc/errors.ts";
import { notification, type JsonObject, type RequestId } from "../../rpc/messages.ts";
import { readInputResponses } from "../../mcp/input-required.ts";
import { canRequest } from "../../mcp/capabilities.ts";
import { checkMetaKeys } from "../../mcp/checks/check-metadata.ts";
import { checkCustom } from "../../mcp/custom-notifications.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import type { Progress } from "../../mcp/progress.ts";
import type { Encoder } from "../../mcp/revisions/encoder.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { InputChannel, ServerRequest } from "../core/input-channel.ts";
import type {
  Context,
  FormElicitation,
  InputOptions,
  Logger,
  Peer,
  Principal,
  UrlElicitation,
} from "../core/context.ts";
import type { Call, CallSession, Link } from "../core/call.ts";
import { otherContext } from "../core/other-libraries.ts";
import type { ServerCore } from "../core/server-core.ts";
import type { Schema } from "../../schema/standard-schema.ts";
import type * as Input from "../input/elicit.ts";
import { CallNotifications } from "./call-notifications.ts";

type CallInit = Pick<
  Call,
  "core" | "revision" | "encoder" | "id" | "method" | "params" | "peer" | "principal" | "session"
> & {
  link: Link;
  /** The lowest level of log messages to send. Undefined sends none. */
  logLevel: LoggingLevel | undefined;
};

const noMeta: JsonObject = Object.freeze({});

/** Makes the abort reason of a call that its client cancelled. `reason` is that of the notification. */
export function cancelledFor(reason: unknown): LocalError {
  const text = typeof reason === "string" ? reason.slice(0, 200) : "no reason given";
  return new LocalError("aborted", `The client cancelled the request: ${text}`);
}

/**
 * Loads the code of input requests with the first one, because few handlers need it. It checks that the library is loaded
 * once.
 */
const loadInput = (): Promise<typeof Input> => (inputModule ??= import("../input/elicit.ts"));
let inputModule: Promise<typeof Input> | undefined;

/** The only object that a request allocates. Rarely used parts, such as signal and logger, are created on first use. */
export class OpenCall implements Call {
  readonly core: ServerCore;
  readonly revision: Revision;
  readonly encoder: Encoder;
  readonly id: RequestId;
  readonly method: string;
  params: JsonObject;
  peer: Peer;
  readonly principal: Principal | undefined;
  readonly session: CallSession | undefined;
  uri = "";
  end: (() => void) | undefined;
  readonly #link: Link;
  readonly #logLevel: LoggingLevel | undefined;
  #controller: AbortController | undefined;
  #cancelReason: Error | undefined;
  #isSettled = false;
  #notifications: CallNotifications | undefined;
  #input: Promise<InputChannel> | undefined;
  #openInput: InputChannel | undefined;

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

  get network(): "tcp" | "pipe" | undefined {
    return this.#link.network;
  }

  get meta(): JsonObject {
    return (this.params._meta as JsonObject | undefined) ?? noMeta;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#cancelReason) this.#controller.abort(this.#cancelReason);
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    return this.#cancelReason !== undefined;
  }

  get input(): Promise<InputChannel> {
    this.#input ??= loadInput().then(({ openInputChannel }) => openInputChannel(this, this.#link));
    this.#input.then(
      (channel) => {
        this.#openInput = channel;
      },
      () => {},
    );
    return this.#input;
  }

  get startedInput(): Promise<InputChannel> | undefined {
    return this.#input;
  }

  outlive(task: { input: InputChannel; progress: (progress: Progress) => void }): (reason: Error) => void {
    this.#input = Promise.resolve(task.input);
    this.#openInput = task.input;
    this.#sender.redirectProgress(task.progress);
    return (reason) => {
      this.#controller ??= new AbortController();
      this.#controller.abort(reason);
    };
  }

  waitUntil(work: Promise<unknown>): void {
    this.#link.waitUntil?.(work);
  }

  get inputResponses(): JsonObject {
    if (this.#openInput) return this.#openInput.inputResponses;
    return this.session ? noMeta : readInputResponses(this.params);
  }

  get requestState(): string | undefined {
    return this.#openInput?.requestState;
  }

  get log(): Logger {
    return this.#sender.logger;
  }

  cancel(reason: Error): void {
    if (this.#isSettled || this.#cancelReason) return;
    this.#cancelReason = reason;
    this.#controller?.abort(reason);
  }

  settle(): void {
    this.#notifications?.flush();
    this.#isSettled = true;
  }

  send(method: string, params: JsonObject | undefined): void {
    if (this.#isSettled || this.#cancelReason) return;
    this.#link.send(notification(method, params));
  }

  // These functions are bound to the call, so that a handler can destructure its context: `({ progress, elicit }) => ...`.
  get progress(): Context["progress"] {
    return (progress: number | Progress, total?: number, message?: string) =>
      this.#sender.progress(typeof progress === "object" ? progress : { progress, total, message });
  }

  get notify(): Context["notify"] {
    return (method, params) => {
      checkCustom(method, params);
      checkMetaKeys(params?._meta, `_meta of ${method}`);
      this.send(method, params);
    };
  }

  get can(): Context["can"] {
    return (kind) => canRequest(kind, this.peer.capabilities, this.revision);
  }

  get elicit(): Context["elicit"] {
    return (question: FormElicitation<Schema> | UrlElicitation, options?: InputOptions<any>): Promise<any> =>
      this.#request(options, ({ elicitRequest }) => elicitRequest(this.core, question));
  }

  get sample(): Context["sample"] {
    return (params, options) => this.#request(options, ({ samplingRequest }) => samplingRequest(params));
  }

  get roots(): Context["roots"] {
    return (options) => this.#request(options, ({ rootsRequest }) => rootsRequest());
  }

  get once(): Context["once"] {
    return async (key, fn) => (await this.input).once(key, fn);
  }

  async #request<T, F>(
    options: InputOptions<F> | undefined,
    make: (input: typeof Input) => ServerRequest<T>,
  ): Promise<T | F> {
    const input = await loadInput();
    return input.sendRequest(this, make(input), options);
  }

  get #sender(): CallNotifications {
    return (this.#notifications ??= new CallNotifications(this, this.#logLevel));
  }
}

Object.setPrototypeOf(OpenCall.prototype, otherContext());
