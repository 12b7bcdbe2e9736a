import type { JsonRpcRequest, RequestId } from "../rpc/messages.ts";
import { Method } from "../mcp/methods.ts";
import { principalKey } from "../server/core/context.ts";
import type { ServerCore } from "../server/core/server-core.ts";
import type { Session } from "../server/protocol/session.ts";
import type { LogEntry, Store } from "../store/store.ts";
import type { EventStream } from "../http/server/event-stream.ts";

/** The entry that marks the end of a stream. */
export const endMark = "end";
/** An entry without content, which keeps the log of a silent stream from expiring. */
export const keepAliveMark = "";

/** The record of a stream, which is stored in addition to its events. */
export interface StreamHead {
  /** The requests whose replies the stream carries, and whether each may be sent again if its outcome is unknown. */
  requests: [id: RequestId, repeatable: boolean][];
}

/** Number of entries per read. */
const pageSize = 100;

interface StreamLogInit {
  store: Store;
  session: Session;
  sessionId: string;
  /** The id of the stream. */
  id: string;
  /** Milliseconds after the last event for which the stream can be resumed. */
  ttl: number;
  /** Maximum number of events. */
  maxLength: number;
}

/**
 * The log of one stream of one session in the store. Its name contains the principal, the session and the stream. The
 * endpoint has checked the session and the principal of each request, so the id of another client's event names no log.
 */
export class StreamLog {
  readonly name: string;
  readonly #init: StreamLogInit;

  constructor(init: StreamLogInit) {
    this.#init = init;
    this.name = `events:${principalKey(init.session.principal)} ${init.sessionId} ${init.id}`;
  }

  /** Stores that the stream exists, before the client gets its id. */
  async open(head: StreamHead): Promise<void> {
    const { store, ttl } = this.#init;
    await store.set(this.#headKey, JSON.stringify(head), { ttl });
  }

  /** Appends an event or a mark, and returns its position. */
  append(value: string): Promise<string> {
    const { store, ttl, maxLength } = this.#init;
    // A mark (which is not JSON) does not displace an event.
    return store.append(this.name, value, { ttl, maxLength: value.startsWith("{") ? maxLength : maxLength + 1 });
  }

  readFrom(position: string | undefined): Promise<LogEntry[]> {
    return this.#init.store.readFrom(this.name, position, pageSize);
  }

  /** Notifies the node that has the connection of a new entry. */
  notify(): Promise<void> {
    return this.#init.store.publish(this.name, "");
  }

  /** Reads the record of the stream. Undefined if it does not exist or has expired. */
  async head(): Promise<StreamHead | undefined> {
    const text = await this.#init.store.get(this.#headKey);
    return text === undefined ? undefined : JSON.parse(text);
  }

  get #headKey(): string {
    return `head of ${this.name}`;
  }
}

/** Returns true if a request may be sent again when its outcome is unknown. */
export function isRepeatable(core: ServerCore, { method, params = {} }: JsonRpcRequest): boolean {
  if (method !== Method.callTool) return true;
  const tool = typeof params.name === "string" ? core.offering.tools.get(params.name) : undefined;
  const { readOnlyHint, idempotentHint } = tool?.annotations ?? {};
  return readOnlyHint === true || idempotentHint === true;
}

/** Returns the id of an event: its stream and its position. */
export function eventId(stream: string, position: string): string {
  return `${stream}_${position}`;
}

/**
 * Returns the first event of a connection. A resumed stream also starts with an id, because some clients forget the id of
 * the previous connection.
 */
export function firstEvent({ polls, retry }: { polls: boolean; retry: number }, id: string | undefined): string {
  return polls && id !== undefined ? `id: ${id}\nretry: ${retry}\ndata: \n\n` : `retry: ${retry}\n\n`;
}

/** Sends an entry of a log with its id. Marks are not sent. */
export function writeEntry(events: EventStream, stream: string, { position, value }: LogEntry): void {
  if (value === endMark || value === keepAliveMark) return;
  events.write(`id: ${eventId(stream, position)}\nevent: message\ndata: ${value}\n\n`);
}
