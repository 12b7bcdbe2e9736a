import type { JsonRpcRequest, RequestId } from "../rpc/messages.ts";
import { Method } from "../mcp/methods.ts";
import { principalKey } from "../server/dispatch/context.ts";
import type { ServerCore } from "../server/core.ts";
import type { Session } from "../server/protocol/session.ts";
import type { Store } from "../store/store.ts";
import type { EventLog } from "./resumable-stream.ts";

/** The record of a stream beside its events. */
export interface StreamHead {
  /** The requests that it answers, and whether each may be sent again if its outcome is unknown. */
  requests: [id: RequestId, repeatable: boolean][];
  /** Set when another node ended it, because its own node has died. */
  closed?: boolean;
}

/** Number of entries that are read at a time. */
const pageSize = 100;

export interface StreamLogInit {
  store: Store;
  session: Session;
  sessionId: string;
  /** The id of the stream. */
  id: string;
  ttl: number;
  maxLength: number;
  head: StreamHead;
}

/**
 * The log of one stream of one session in the store. Its name contains the principal, the session and the stream. A request
 * was matched with its session and principal before, so the id of another client's event names no log.
 */
export class StreamLog implements EventLog {
  readonly name: string;
  readonly #init: StreamLogInit;

  constructor(init: StreamLogInit) {
    this.#init = init;
    this.name = `events:${principalKey(init.session.principal)} ${init.sessionId} ${init.id}`;
  }

  async open(): Promise<void> {
    const { store, head, ttl } = this.#init;
    await store.set(this.#headKey, JSON.stringify(head), { ttl });
  }

  append(value: string): Promise<string> {
    const { store, ttl, maxLength } = this.#init;
    // Marks do not displace events.
    return store.append(this.name, value, { ttl, maxLength: value.startsWith("{") ? maxLength : maxLength + 1 });
  }

  readFrom(after: string | undefined, limit: number = pageSize): ReturnType<Store["readFrom"]> {
    return this.#init.store.readFrom(this.name, after, limit);
  }

  nudge(): Promise<void> {
    return this.#init.store.publish(this.name, "");
  }

  /** Reads the record of the stream. Undefined if it does not exist or has expired. */
  async head(): Promise<StreamHead | undefined> {
    const text = await this.#init.store.get(this.#headKey);
    return text === undefined ? undefined : (JSON.parse(text) as StreamHead);
  }

  /** Ends a stream whose node has died. Returns false if another node does it, or has done it. */
  close(head: StreamHead): Promise<boolean> {
    const { store, ttl } = this.#init;
    const closed = JSON.stringify({ ...head, closed: true });
    return store.compareAndSet(this.#headKey, JSON.stringify(head), closed, { ttl });
  }

  get #headKey(): string {
    return `head of ${this.name}`;
  }
}

/** Whether a request may be sent again if its outcome is unknown. */
export function isRepeatable(core: ServerCore, { method, params = {} }: JsonRpcRequest): boolean {
  if (method !== Method.callTool) return true;
  const { readOnlyHint, idempotentHint } = core.offering.tools.get(params.name as string)?.annotations ?? {};
  return readOnlyHint === true || idempotentHint === true;
}
