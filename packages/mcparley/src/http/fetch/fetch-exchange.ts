import { LocalError } from "../../rpc/errors.ts";
import type {
  HttpExchange,
  Held,
  Platform,
  ReadLimits,
  ReplyReaders,
  RequestOptions,
  ResponseBody,
  ResponseHeaders,
  ResponseStream,
  UnreadBody,
} from "../exchange.ts";
import type { Principal } from "../../server/core/context.ts";
import { bodyWasRead, notUtf8, tooLarge } from "../server/refusal.ts";

/** Unread bytes of a stream from which on it is noted. A platform reads fewer bytes after the end of the turn. */
const smallBacklog = 16_384;

/** The second parameter that `Bun.serve` passes to its `fetch`. Only this runtime has the method. */
interface BunServer {
  requestIP?: unknown;
}

/** An exchange on web `Request` and `Response`. */
export class FetchExchange implements HttpExchange, UnreadBody {
  readonly address: undefined;
  readonly network: undefined;
  held: Held | undefined;
  readers: ReplyReaders | undefined;
  caller = "";
  backlog = 0;
  /** Settles once the head of the response is known. */
  readonly response: Promise<Response>;
  readonly #request: Request;
  readonly #options: RequestOptions & Platform & BunServer;
  readonly #platform: Platform;
  readonly #url: string;
  readonly path: string;
  #answer!: (response: Response) => void;
  #extra: ResponseHeaders | undefined;
  #onGone: (() => void) | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #writtenBytes = 0;
  /** Bytes that the platform had read at the last call of `hasRead`. */
  #readBytes = 0;
  #state: "open" | "streaming" | "done" = "open";

  constructor(request: Request, options?: (RequestOptions & Platform) | null, platform?: Platform) {
    this.#request = request;
    this.#options = options ?? {};
    this.#platform = platform ?? this.#options;
    this.#url = request.url;
    this.path = pathOf(this.#url);
    this.response = new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  get method(): string {
    return this.#request.method;
  }

  get query(): string {
    return new URL(this.#url).search.slice(1);
  }

  get secure(): boolean {
    return this.#url.startsWith("https:");
  }

  get principal(): Principal | undefined {
    return this.#options.principal ?? undefined;
  }

  /** The given body counts only if there is none to read: the options may be the environment of a Worker. */
  get parsedBody(): unknown {
    const { body: parsedBody } = this.#options;
    // Bun makes a stream for the body when it is accessed.
    if (parsedBody === undefined) return undefined;
    const { body, bodyUsed } = this.#request;
    return bodyUsed || !body ? parsedBody : undefined;
  }

  waitUntil(work: Promise<unknown>): void {
    this.#platform.waitUntil?.(work);
  }

  get closed(): boolean {
    // Bun makes a signal when it is accessed. Until the reply is awaited, a body that cannot be read shows a disconnect as well.
    return this.#state === "done" || ((this.#onGone !== undefined || !this.#isBun) && this.#request.signal.aborted);
  }

  get #isBun(): boolean {
    return typeof this.#options.requestIP === "function";
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    // Not every runtime exposes this header. The URL contains the same value.
    return value ?? (name === "host" ? new URL(this.#url).host : undefined);
  }

  readText({ maxBytes, startTimeout }: ReadLimits): Promise<string> {
    return new Promise((resolve, reject) => {
      const declaredLength = this.header("content-length");
      if (Number(declaredLength ?? 0) > maxBytes) throw tooLarge(maxBytes);
      if (this.#request.bodyUsed) throw bodyWasRead();
      // `Bun.serve` has checked that the body has its declared length. It makes a stream for a body that is read in chunks, which takes a
      // quarter of a request.
      const isWhole = declaredLength !== undefined && this.#isBun;
      const reader = isWhole ? undefined : this.#request.body?.getReader();
      if (!isWhole && !reader) return resolve("");
      const settle = (readBody: () => string): void => {
        stopTimeout();
        try {
          resolve(readBody());
        } catch (error) {
          reject(error);
        }
      };
      const fail = (error: Error): void => {
        void reader?.cancel().catch(() => {});
        settle(() => {
          throw error;
        });
      };
      const stopTimeout = startTimeout(fail);
      if (reader) this.#readChunks(reader, maxBytes).then((chunks) => settle(() => decode(chunks)), fail);
      else
        this.#request.arrayBuffer().then(
          (bytes) => settle(() => this.#decodeWhole(bytes)),
          (cause) => fail(closedEarly(cause)),
        );
    });
  }

  #decodeWhole(bytes: ArrayBuffer): string {
    const error = this.held?.grow(bytes.byteLength);
    if (error) throw error;
    return decode([new Uint8Array(bytes)]);
  }

  async #readChunks(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number): Promise<Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw closedEarly(cause);
      });
      if (done) return chunks;
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
        headers: this.#extra ? { ...headers, ...this.#extra } : headers,
      }),
    );
  }

  stream(status: number, headers: ResponseHeaders): ResponseStream {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (streamController) => {
          controller = this.#controller = streamController;
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
    return {
      write: (chunk) =>
        whileOpen(() => {
          const bytes = encoder.encode(chunk);
          this.backlog = this.unread;
          this.#writtenBytes += bytes.length;
          controller.enqueue(bytes);
          if (this.unread >= smallBacklog) this.readers?.note(this, this.caller);
        }),
      end: () =>
        whileOpen(() => {
          this.#end();
          controller.close();
        }),
      destroy: () => whileOpen(() => this.destroy()),
    };
  }

  get unread(): number {
    return -(this.#controller?.desiredSize ?? 0);
  }

  hasRead(): boolean {
    const readBytes = this.#writtenBytes - this.unread;
    const isRead = readBytes > this.#readBytes;
    this.#readBytes = readBytes;
    return isRead;
  }

  destroy(): void {
    this.#controller?.error(new LocalError("closed", "The response was aborted."));
    this.#disconnect();
  }

  onGone(listener: () => void): void {
    // Most requests are answered without waiting, so few need a listener.
    const { signal } = this.#request;
    if (!this.#onGone) signal.addEventListener("abort", () => this.#disconnect(), { once: true });
    this.#onGone = listener;
    if (signal.aborted) this.#disconnect();
  }

  #disconnect(): void {
    this.readers?.remove(this);
    if (this.#state === "done") return;
    this.#end();
    this.#onGone?.();
  }

  #end(): void {
    this.#state = "done";
    this.held?.release();
  }
}

/** Returns the path of an absolute URL. Parsing the whole URL takes longer than the rest of a request's head. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.search(/[?#]/);
  return start === -1 || (end !== -1 && end < start) ? "/" : url.slice(start, end === -1 ? undefined : end);
}

function closedEarly(cause: unknown): LocalError {
  return new LocalError("closed", "The client closed the connection before the end of its request.", { cause });
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(chunks: readonly Uint8Array[]): string {
  try {
    if (chunks.length === 1) return utf8.decode(chunks[0]);
    // Each body of several chunks needs a decoder, because it keeps the beginning of a character.
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch {
    throw notUtf8();
  }
}
