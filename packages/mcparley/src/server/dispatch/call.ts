import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import { notification, type JsonObject, type JsonRpcMessage, type RequestId } from "../../rpc/messages.ts";
import { readInputResponses } from "../../mcp/input-required.ts";
import { canRequest } from "../../mcp/capabilities.ts";
import { checkMetaKeys } from "../../mcp/checks/check-metadata.ts";
import { checkCustom } from "../../mcp/custom-notifications.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import type { Progress } from "../../mcp/progress.ts";
import type { Encoder } from "../../mcp/revisions/encoder.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { InputChannel, ServerRequest } from "../input/input-channel.ts";
import type { Context, FormElicitation, Logger, Peer, Principal, UrlElicitation } from "./context.ts";
import type { ServerCore } from "../core.ts";
import type { Schema } from "../../schema/standard-schema.ts";
import type * as Elicit from "../input/elicit.ts";
import type { Session } from "../protocol/session.ts";
import { requireOneCopy } from "../one-copy.ts";
import { CallNotifications } from "./call-notifications.ts";

/** Sends messages about one request to the peer, before its response. */
export interface Link {
  send(message: JsonRpcMessage): void;
  /** Kind of connection. Undefined if client and server are in one process. */
  readonly network?: "tcp" | "pipe" | undefined;
  /** False while messages that belong to no request cannot be sent, because the client has no stream open. */
  readonly isOpen?: boolean;
  /** Called when the last call in flight of a session was answered. */
  onIdle?(): void;
  /** Closes the connection or stream, because the client does not answer. */
  reset?(cause: Error): void;
  /** Keeps the process alive until the promise settles, on platforms that need it. */
  waitUntil?(work: Promise<unknown>): void;
}

interface CallInit {
  core: ServerCore;
  revision: Revision;
  /** Encodes results and requests for the revision. */
  encoder: Encoder;
  id: RequestId;
  method: string;
  params: JsonObject;
  peer: Peer;
  principal: Principal | undefined;
  link: Link;
  /** The lowest level of log messages to send. Undefined sends none. */
  logLevel: LoggingLevel | undefined;
  /** Undefined in modern revisions, which have no sessions. */
  session: Session | undefined;
}

const noMeta: JsonObject = Object.freeze({});

/** Makes the abort reason of a call that its client cancelled. `reason` is that of the notification. */
export function cancelledFor(reason: unknown): LocalError {
  const text = typeof reason === "string" ? reason.slice(0, 200) : "no reason given";
  return new LocalError("aborted", `The client cancelled the request: ${text}`);
}

/**
 * A request from a client. It is also the context of its handler.
 *
 * It is the only object that a request allocates. Rarely used parts, such as signal and logger, are created on first use.
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
  /** The URI of the resource that is read, as the client sent it. */
  uri = "";
  /** Ends a stream with its graceful result. Only open streams have it. */
  end: (() => void) | undefined;
  readonly #link: Link;
  readonly #logLevel: LoggingLevel | undefined;
  #controller: AbortController | undefined;
  #cancelled: Error | undefined;
  #settled = false;
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

  /** Kind of connection. Undefined if client and server are in one process. */
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

  /** Whether the client cancelled the call. Nothing may be sent about it then. */
  get cancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /**
   * The channel for input requests to the client, with the state of earlier rounds. Rejects if that state belongs to another
   * call. Loaded on first use, because few handlers need input.
   */
  get input(): Promise<InputChannel> {
    this.#input ??= import("../input/elicit.ts").then(({ openInputChannel, LocalError: Loaded }) => {
      requireOneCopy(Loaded);
      return openInputChannel(this, this.#link);
    });
    this.#input.then(
      (channel) => {
        this.#openInput = channel;
      },
      () => {},
    );
    return this.#input;
  }

  /** The channel for input requests. Undefined if the handler has not used it and the request has no `requestState`. */
  get startedInput(): Promise<InputChannel> | undefined {
    return this.#input;
  }

  /**
   * Continues the handler after the response to its request, as in a task. Its input requests are then sent on `input`, and
   * its progress is passed to `progress`. Returns a function that aborts the handler's signal.
   */
  outlive(task: { input: InputChannel; progress: (progress: Progress) => void }): (reason: Error) => void {
    this.#input = Promise.resolve(task.input);
    this.#openInput = task.input;
    this.#sender.redirectProgress(task.progress);
    return (reason) => {
      this.#controller ??= new AbortController();
      this.#controller.abort(reason);
    };
  }

  /** Keeps the process alive for work that continues after the response, on platforms that need it. */
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

  /** Aborts the call's signal, and sends nothing more about it. Does nothing if the call is answered already. */
  cancel(reason: Error): void {
    if (this.#settled || this.#cancelled) return;
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }

  /** Marks the call as answered. Later notifications of its handler are not sent. */
  settle(): void {
    this.#notifications?.flush();
    this.#settled = true;
  }

  /** Sends a notification that belongs to this call, unless the call is answered or cancelled. */
  send(method: string, params: JsonObject | undefined): void {
    if (this.#settled || this.#cancelled) return;
    this.#link.send(notification(method, params));
  }

  // These functions are bound to the call, so that a handler can destructure its context: `({ progress, elicit }) => ...`.
  get progress(): Context["progress"] {
    return (done: number | Progress, total?: number, message?: string) =>
      this.#sender.progress(typeof done === "object" ? done : { progress: done, total, message });
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
    return ((request: FormElicitation<Schema> | UrlElicitation) =>
      this.#request(({ formRequest, urlRequest }) =>
        "url" in request ? urlRequest(request) : formRequest(this.core, request),
      )) as Context["elicit"];
  }

  get sample(): Context["sample"] {
    return (params) => this.#request(({ samplingRequest }) => samplingRequest(params));
  }

  get roots(): Context["roots"] {
    return () => this.#request(({ rootsRequest }) => rootsRequest());
  }

  get once(): Context["once"] {
    return async (key, fn) => (await this.input).once(key, fn);
  }

  async #request<T>(make: (elicit: typeof Elicit) => ServerRequest<T>): Promise<T> {
    const channel = await this.input;
    return channel.request(make(await import("../input/elicit.ts")));
  }

  get #sender(): CallNotifications {
    return (this.#notifications ??= new CallNotifications(this, this.#logLevel));
  }
}

/** Returns the context of a call's handler: the call, with the properties that the option `context` adds. */
export function handlerContext(call: Call, { definition }: ServerCore = call.core): Awaitable<any> {
  const { context } = definition;
  if (!context) return call;
  const added = context(call);
  return isPromise(added) ? added.then((more) => Object.assign(call, more)) : Object.assign(call, added);
}
