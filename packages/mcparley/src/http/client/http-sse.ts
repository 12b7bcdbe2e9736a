import { pause } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonRpcMessage, encode, isRequest } from "../../rpc/messages.ts";
import { redact } from "../../rpc/redact.ts";
import type { Receiver, Transport } from "../../rpc/transport.ts";
import { Notification } from "../../mcp/methods.ts";
import { discard } from "./body.ts";
import { sendHttp } from "./send.ts";
import type { OpenStream } from "./open-stream.ts";
import type { HttpSettings } from "./settings.ts";
import { sessionLost, statusError } from "./status.ts";

/** How long what follows `notifications/initialized` waits for the server to take it. */
const INITIALIZED_MS = 5_000;

/**
 * The HTTP+SSE transport (2024-11-05, basic/transports), from the client's side: one stream carries all that the server
 * says, and each message to it is a POST that is only acknowledged. The session lives as long as the stream.
 */
export class HttpSseTransport implements Transport {
  readonly #settings: HttpSettings;
  readonly #stream: OpenStream;
  /** Where messages are posted. */
  readonly #endpoint: URL;
  /** Aborted when the transport is closed. */
  readonly #lifetime = new AbortController();
  #receiver: Receiver | undefined;
  /** Settles when the server has taken `notifications/initialized`, which nothing may overtake. */
  #initialized: Promise<unknown> | undefined;

  constructor(settings: HttpSettings, stream: OpenStream, endpoint: URL) {
    this.#settings = settings;
    this.#stream = stream;
    this.#endpoint = endpoint;
  }

  get network(): "tcp" {
    return "tcp";
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#stream.read({
      deliver: (data) => this.#deliver(data),
      ended: (cause) => this.#end(cause ?? new LocalError("closed", "The server ended its stream.")),
    });
  }

  send(message: JsonRpcMessage | JsonRpcMessage[]): void | Promise<void> {
    const messages = Array.isArray(message) ? message : [message];
    const body = Array.isArray(message) ? `[${message.map(encode).join(",")}]` : encode(message);
    const [first] = messages;
    const what = first && "method" in first ? first.method : "a response";
    const requests = messages.filter(isRequest);
    const pause = (): (() => void) => {
      const resumes = requests.map(({ id }) => this.#receiver?.waits?.(id));
      return () => resumes.forEach((resume) => resume?.());
    };
    const posting = this.#post(body, what, pause);
    if (what === Notification.initialized) this.#holdOthers(posting);
    if (requests.length === 0) return posting;
    posting.catch((error: Error) => {
      for (const { id } of requests) this.#receiver?.failed?.(id, error);
    });
  }

  close(): Promise<void> {
    this.#end(undefined);
    return Promise.resolve();
  }

  async #post(body: string, what: string, pause: () => () => void): Promise<void> {
    await this.#initialized;
    const { signal } = this.#lifetime;
    if (signal.aborted) throw closed();
    const headers = { "content-type": "application/json" };
    let response: Response;
    try {
      const outgoing = { method: "POST", url: this.#endpoint, headers, body, signal, pause } as const;
      response = await sendHttp(this.#settings, outgoing);
    } catch (error) {
      throw signal.aborted ? closed() : error;
    }
    if (response.ok) return discard(response);
    if (response.status !== 404) throw await statusError(response, what, this.#settings.clock);
    discard(response);
    throw sessionLost(what);
  }

  #holdOthers(posting: Promise<void>): void {
    const limit = new AbortController();
    const held = Promise.race([posting, pause(this.#settings.clock, INITIALIZED_MS, limit.signal)])
      .catch(() => {})
      .finally(() => {
        limit.abort();
        this.#initialized = undefined;
      });
    this.#initialized = held;
  }

  #deliver(data: string): void {
    if (this.#lifetime.signal.aborted) return;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch (cause) {
      const message = `The server sent an event that is not JSON: ${JSON.stringify(redact(data.slice(0, 100)))}.`;
      this.#receiver?.malformed(new LocalError("invalid_message", message, { cause }));
      return;
    }
    this.#receiver?.message(value);
  }

  #end(cause: Error | undefined): void {
    if (this.#lifetime.signal.aborted) return;
    this.#lifetime.abort(closed());
    this.#stream.close();
    this.#receiver?.closed(cause);
  }
}

function closed(): LocalError {
  return new LocalError("closed", "The transport is closed.");
}
