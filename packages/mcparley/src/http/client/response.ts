import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";
import { discard, readText } from "./body.ts";
import type { Posted } from "./posted.ts";
import { readRefusal } from "./refused.ts";
import type { HttpSettings } from "./settings.ts";
import type { StreamReader } from "./stream.ts";
import { isEventStream, isJson, mediaType } from "../media-type.ts";

/** What reads answers for its transport. */
export interface AnswerOwner {
  /** Called for each message, in the order of its stream. */
  message(value: unknown): void;
  malformed(error: Error): void;
  /** The headers that name the session. */
  headers(): Record<string, string>;
  /** Called with the good response to `initialize`, before its answer is read. */
  opened(response: Response): void;
}

/** Reads the responses to POSTs until each request in them is answered, taking up streams that break where it can. */
export class AnswerReader {
  readonly #settings: HttpSettings;
  readonly #owner: AnswerOwner;
  #streams: Promise<StreamReader> | undefined;

  constructor(settings: HttpSettings, owner: AnswerOwner) {
    this.#settings = settings;
    this.#owner = owner;
  }

  /** Delivers what the response holds. Throws where it leaves a request without an answer. */
  async read(response: Response, posted: Posted, inSession: boolean): Promise<void> {
    if (!response.ok) return this.#readRefusal(response, posted, inSession);
    if (posted.isInitialize) this.#owner.opened(response);
    if (isEventStream(response)) return (await this.#streamReader()).read(response, posted);
    if (!isJson(response)) throw this.#unreadable(response, posted);
    await this.#readJson(response, posted);
  }

  #streamReader(): Promise<StreamReader> {
    this.#streams ??= import("./stream.ts").then(({ StreamReader }) => new StreamReader(this.#settings, this.#owner));
    return this.#streams;
  }

  async #readRefusal(response: Response, posted: Posted, inSession: boolean): Promise<void> {
    const { what, waiting: ids } = posted;
    const answers = await readRefusal({ response, what, ids, inSession, clock: this.#settings.clock });
    if (answers instanceof LocalError) throw answers;
    for (const answer of answers) this.#owner.message(answer);
    checkAnswered(posted);
  }

  async #readJson(response: Response, posted: Posted): Promise<void> {
    const text = await readText(response, this.#settings.limits.message);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      const excerpt = JSON.stringify(redact(text.slice(0, 200)));
      throw new LocalError("invalid_message", `The server answered ${posted.what} with no JSON: ${excerpt}.`, {
        cause,
      });
    }
    this.#owner.message(value);
    checkAnswered(posted);
  }

  #unreadable(response: Response, { what }: Posted): LocalError {
    discard(response);
    const { status } = response;
    const type = mediaType(response);
    const got = type === "" ? "no answer" : `"${type.slice(0, 100)}"`;
    const message = `The server answered ${what} with ${status} and ${got} where JSON was expected. Is this the URL of an MCP endpoint?`;
    return new LocalError("invalid_message", message, { data: { status, contentType: type } });
  }
}

function checkAnswered({ waiting, what }: Posted): void {
  if (waiting.size === 0) return;
  const ids = [...waiting].map((id) => JSON.stringify(id)).join(", ");
  throw new LocalError("invalid_message", `The server answered ${what} with something else than a response to ${ids}.`);
}
