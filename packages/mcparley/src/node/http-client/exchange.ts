import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { ReceivedPart } from "../../client/connect/transports.ts";
import type { HttpReply, ReplyHeaders, SendInit } from "../../http/client/reply.ts";
import { guarded } from "../../rpc/guarded.ts";
import { type BodyDecoder, decoderFor } from "./decoder.ts";
import { ArrivingBody, type BodySource } from "./reply-body.ts";

type Controller = Dispatcher.DispatchController;

/** One request on a connection, and its reply. */
export class Exchange implements Dispatcher.DispatchHandler, BodySource {
  /** Settles when the head of the reply has arrived. */
  readonly reply: Promise<HttpReply>;
  readonly #signal: AbortSignal | null | undefined;
  readonly #onReceived: SendInit["onReceived"];
  readonly #onEnd: (isReusable: boolean) => void;
  readonly #connection: { reasonOf(error: Error): Error };
  /** Bytes of the body that have arrived. */
  #receivedBytes = 0;
  /** Bytes of the body that were announced. 0 if they are unknown. */
  #length = 0;
  #resolve!: (reply: HttpReply) => void;
  #reject!: (error: unknown) => void;
  #controller: Controller | undefined;
  #body: ArrivingBody | undefined;
  #decoder: BodyDecoder | undefined;
  #isEnded = false;

  /**
   * The signal ends the exchange, with its reason as the error. `onEnd` is called once at the end. `isReusable`: the connection
   * can be used for another request. `connection` explains its errors.
   */
  constructor(
    { signal, onReceived }: SendInit,
    connection: { reasonOf(error: Error): Error },
    onEnd: (isReusable: boolean) => void,
  ) {
    this.#signal = signal;
    this.#onReceived = onReceived;
    this.#onEnd = onEnd;
    this.#connection = connection;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal?.addEventListener("abort", this);
  }

  /** Ends the exchange when the signal is aborted. */
  handleEvent(): void {
    this.#abort(this.#signal?.reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
  }

  // oxlint-disable-next-line max-params -- undici defines them
  onResponseStart(_: Controller, status: number, replyHeaders: IncomingHttpHeaders, statusText = ""): void {
    // A provisional response, such as 103, is followed by another one.
    if (status < 200 || this.#isEnded) return;
    const headers = headersOf(replyHeaders);
    this.#length = Number(headers.get("content-length")) || 0;
    const encodings = headers.get("content-encoding");
    try {
      if (encodings !== null) this.#decoder = decoderFor(encodings);
    } catch (error) {
      return this.#abort(error);
    }
    const body = new ArrivingBody(this, this.#length);
    this.#body = body;
    if (this.#decoder) this.#decode(this.#decoder, body);
    const hasBody = status !== 204 && status !== 205 && status !== 304;
    this.#resolve({
      ok: status < 300,
      status,
      statusText,
      headers,
      body: hasBody ? body : null,
      text: () => body.text(),
    });
  }

  onResponseData(controller: Controller, part: Buffer): void {
    if (this.#onReceived) this.#report(this.#onReceived, part);
    if (this.#isEnded) return;
    if (!this.#decoder) return this.#body?.push(part);
    if (this.#decoder.first.write(part)) return;
    controller.pause();
    this.#decoder.first.once("drain", () => controller.resume());
  }

  onResponseEnd(): void {
    if (this.#decoder) this.#decoder.first.end();
    else this.#body?.end();
    this.#end(true);
  }

  onResponseError(_: Controller, undiciError: Error): void {
    if (this.#isEnded) return;
    const error = this.#connection.reasonOf(undiciError);
    if (this.#body) this.#body.end(error);
    // Without a connection nothing was sent. The errors of some steps do not show it.
    else this.#reject(this.#controller ? error : Object.assign(error, { syscall: "connect" }));
    this.#end(false);
  }

  #report(onReceived: (receivedPart: ReceivedPart) => void, part: Buffer): void {
    this.#receivedBytes += part.length;
    guarded(
      () => onReceived({ bytes: this.#receivedBytes, total: this.#length || undefined }),
      (error) => this.#abort(error),
    );
  }

  #decode({ last }: BodyDecoder, body: ArrivingBody): void {
    last.on("data", (part: Buffer) => body.push(part));
    last.on("end", () => body.end());
    last.on("error", (error) => {
      body.end(error);
      this.#end(false);
    });
  }

  /** Ends the exchange with an error, and closes its connection. */
  #abort(reason: unknown): void {
    if (this.#body) this.#body.abort(reason);
    else this.#reject(reason);
    this.cancel();
  }

  pause(): void {
    this.#controller?.pause();
    this.#decoder?.last.pause();
  }

  resume(): void {
    this.#decoder?.last.resume();
    if (!this.#isEnded && this.#decoder?.first.writableNeedDrain !== true) this.#controller?.resume();
  }

  /** Ends the exchange and closes its connection. */
  cancel(): void {
    this.#decoder?.last.destroy();
    this.#end(false);
  }

  #end(isReusable: boolean): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#signal?.removeEventListener("abort", this);
    this.#onEnd(isReusable);
  }
}

function headersOf(headers: IncomingHttpHeaders): ReplyHeaders {
  const get = (name: string): string | null => {
    const value = headers[name.toLowerCase()];
    return value === undefined ? null : typeof value === "string" ? value : value.join(", ");
  };
  return {
    get,
    has: (name) => headers[name.toLowerCase()] !== undefined,
    entries: () =>
      Object.entries(headers).flatMap(([name, value = []]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      ),
  };
}
