import { ErrorCode } from "../../mcp/errors.ts";
import type { BodyReader, Exchange, Held, Reader } from "../exchange.ts";
import { HttpRefusal, shown, tooLarge } from "./refusal.ts";
import type { RequestLimits, Wait } from "./request-limits.ts";

/** Refuses with 415 a body that is not said to be JSON: a form or plain text is what a page can send unasked. */
function requireJson(exchange: Exchange): void {
  const contentType = exchange.header("content-type");
  if (
    contentType !== "application/json" &&
    contentType?.split(";", 1)[0]?.trim().toLowerCase() !== "application/json"
  ) {
    const got = contentType === undefined ? "none" : `"${shown(contentType)}"`;
    throw new HttpRefusal(415, `Content-Type must be application/json; got ${got}.`);
  }
  const encoding = exchange.header("content-encoding");
  if (encoding === undefined || encoding.toLowerCase() === "identity" || exchange.parsedBody !== undefined) return;
  throw new HttpRefusal(415, `The body is encoded as "${shown(encoding)}". Send it as it is.`);
}

/** How bodies are read. */
export interface BodyLimits {
  /** Bytes of a body. */
  readonly max: number;
  readonly requests: RequestLimits;
}

/**
 * Reads the body of a POST as JSON, or takes it as a framework has parsed it.
 *
 * Throws a refusal for what is wrong with its headers. Rejects with 408 if the body takes too long.
 */
export function readMessage(exchange: Exchange, { max, requests }: BodyLimits, reader: Reader<unknown>): void {
  requireJson(exchange);
  const { parsedBody, held } = exchange;
  if (parsedBody !== undefined) return reader.resolve(withinLimit(exchange, parsedBody, max));
  exchange.readText(max, new MessageReader(held, requests, reader));
}

/** Reads the text of one body as JSON. */
class MessageReader implements BodyReader {
  readonly #held: Held | undefined;
  readonly #requests: RequestLimits;
  readonly #reader: Reader<unknown>;
  #wait: Wait | undefined;
  #isOver = false;

  constructor(held: Held | undefined, requests: RequestLimits, reader: Reader<unknown>) {
    this.#held = held;
    this.#requests = requests;
    this.#reader = reader;
  }

  resolve(text: string): void {
    if (this.#end()) parse(text, this.#reader);
  }

  reject(error: unknown): void {
    if (this.#end()) this.#reader.reject(error);
  }

  received(bytes: number): Error | undefined {
    return this.#held?.grow(bytes);
  }

  pending(stop: () => void): void {
    this.#wait = this.#requests.wait((refusal) => {
      stop();
      this.reject(refusal);
    });
  }

  /** Returns false if the reading has ended before. */
  #end(): boolean {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    this.#wait?.end();
    // It refers to the text that was read, and the exchange refers to this reader.
    this.#wait = undefined;
    return isFirst;
  }
}

function parse(text: string, reader: Reader<unknown>): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const options = { code: ErrorCode.ParseError };
    return reader.reject(new HttpRefusal(400, "Parse error: the body is not JSON.", options));
  }
  reader.resolve(value);
}

/**
 * Holds a body that a framework has parsed to the limit as well: its length as it was sent, or where that is not known
 * (it was compressed, or came in chunks) the length of its JSON.
 */
function withinLimit(exchange: Exchange, parsed: unknown, limit: number): unknown {
  const sent = exchange.header("content-length");
  const isPlain = sent !== undefined && exchange.header("content-encoding") === undefined;
  const length = isPlain ? Number(sent) : new TextEncoder().encode(JSON.stringify(parsed)).length;
  if (length > limit) throw tooLarge(limit);
  return parsed;
}
