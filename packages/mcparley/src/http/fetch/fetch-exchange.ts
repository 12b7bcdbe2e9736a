import { LocalError } from "../../rpc/errors.ts";
import type {
  HttpExchange,
  Held,
  Platform,
  ReadLimits,
  RequestOptions,
  ResponseBody,
  ResponseHeaders,
  ResponseStream,
} from "../exchange.ts";
import type { Principal } from "../../server/core/context.ts";
import { bodyWasRead, notUtf8, tooLarge } from "../server/refusal.ts";

/** Maximum bytes that wait in a stream, because its platform does not read them. If more wait, the next event aborts the stream. */
const maxBacklog = 64 * 1024 * 1024;

/** An exchange on web `Request` and `Response`. */
export class FetchExchange implements HttpExchange {
  readonly address: undefined;
  readonly network: undefined;
  held: Held | undefined;
  /** Settles once the head of the response is known. */
  readonly response: Promise<Response>;
  readonly #request: Request;
  readonly #options: RequestOptions & Platform;
  readonly #platform: Platform;
  readonly #url: URL;
  #answer!: (response: Response) => void;
  #extra: ResponseHeaders | undefined;
  #onGone: (() => void) | undefined;
  #state: "open" | "streaming" | "done" = "open";

  constructor(request: Request, options?: (RequestOptions & Platform) | null, platform?: Platform) {
    this.#request = request;
    this.#options = options ?? {};
    this.#platform = platform ?? this.#options;
    this.#url = new URL(request.url);
    this.response = new Promise((resolve) => {
      this.#answer = resolve;
    });
    request.signal.addEventListener("abort", () => this.#disconnect(), { once: true });
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return this.#url.pathname;
  }

  get query(): string {
    return this.#url.search.slice(1);
  }

  get secure(): boolean {
    return this.#url.protocol === "https:";
  }

  get principal(): Principal | undefined {
    return this.#options.principal ?? undefined;
  }

  /** The given body counts only if there is none to read: the options may be the environment of a Worker. */
  get parsedBody(): unknown {
    const { body, bodyUsed } = this.#request;
    return bodyUsed || !body ? this.#options.body : undefined;
  }

  waitUntil(work: Promise<unknown>): void {
    this.#platform.waitUntil?.(work);
  }

  get closed(): boolean {
    return this.#state === "done" || this.#request.signal.aborted;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    // Not every runtime exposes this header. The URL contains the same value.
    return value ?? (name === "host" ? this.#url.host : undefined);
  }

  async readText({ maxBytes, startTimeout }: ReadLimits): Promise<string> {
    if (Number(this.header("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
    if (this.#request.bodyUsed) throw bodyWasRead();
    const body = this.#request.body?.getReader();
    if (!body) return "";
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        stopTimeout();
        void body.cancel().catch(() => {});
        reject(error);
      };
      const stopTimeout = startTimeout(fail);
      this.#readChunks(body, maxBytes).then((text) => {
        stopTimeout();
        resolve(text);
      }, fail);
    });
  }

  async #readChunks(body: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await body.read().catch((cause: unknown) => {
        throw new LocalError("closed", "The client closed the connection before the end of its request.", { cause });
      });
      if (done) return decode(chunks);
      size += value.length;
      const error = size > maxBytes ? tooLarge(maxBytes) : this.held?.grow(size);
      if (error) throw error;
      chunks.push(value);
    }
  }

  decorate(headers: ResponseHeaders): void {
    this.#extra = { ...this.#extra, ...headers };
  }

  respond(status: number, headers: ResponseHeaders, body: ResponseBody | null = null): void {
    this.#end();
    this.#answer(
      new Response(body && typeof body === "object" ? new Blob(body as BlobPart[]) : body, {
        status,
        headers: { ...headers, ...this.#extra },
      }),
    );
  }

  stream(status: number, headers: ResponseHeaders): ResponseStream {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (streamController) => {
          controller = streamController;
        },
        cancel: () => this.#disconnect(),
      },
      { highWaterMark: 0, size: (chunk) => chunk.byteLength },
    );
    if (this.closed) controller.close();
    else this.#state = "streaming";
    this.#answer(new Response(body, { status, headers: { ...headers, ...this.#extra } }));
    const encoder = new TextEncoder();
    const whileOpen = (act: () => void): void => {
      if (this.#state === "streaming") act();
    };
    const destroy = (): void => {
      controller.error(new LocalError("closed", "The response was aborted."));
      this.#disconnect();
    };
    return {
      write: (chunk) =>
        whileOpen(() => {
          if ((controller.desiredSize ?? 0) < -maxBacklog) destroy();
          else controller.enqueue(encoder.encode(chunk));
        }),
      end: () =>
        whileOpen(() => {
          this.#end();
          controller.close();
        }),
      destroy: () => whileOpen(destroy),
    };
  }

  onGone(listener: () => void): void {
    this.#onGone = listener;
    if (this.#request.signal.aborted) this.#disconnect();
  }

  #disconnect(): void {
    if (this.#state === "done") return;
    this.#end();
    this.#onGone?.();
  }

  #end(): void {
    this.#state = "done";
    this.held?.release();
  }
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch {
    throw notUtf8();
  }
}
