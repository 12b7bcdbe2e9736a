import type { Awaitable } from "../../../rpc/awaitable.ts";
import type { Classified } from "../../../rpc/messages.ts";
import type { EndpointContext, LegacyContext, Posted, Sender } from "../endpoint-context.ts";
import type { Exchange } from "../../exchange.ts";
import type { HttpOptions } from "../options.ts";
import { postBatch } from "./post-batch.ts";
import { postLegacy } from "./post-legacy.ts";
import { deleteSession, getStream } from "./session-methods.ts";
import { Sessions } from "./sessions.ts";

/** Runs what serves one request, and may turn its failure into a refusal. */
type Guard = <T>(serve: () => Awaitable<T>) => Awaitable<T>;
type Message = Exclude<Classified, { kind: "invalid" }>;

/**
 * The legacy revisions at one endpoint: its sessions, and the methods that only they have.
 *
 * It is loaded when the first request of a legacy revision comes, so that it costs nothing where none does.
 */
export class LegacyEndpoint {
  readonly #context: LegacyContext;
  readonly #guard: Guard;

  /** `guard` runs each request. */
  constructor(context: LegacyContext, guard: Guard = (serve) => serve()) {
    this.#context = context;
    this.#guard = guard;
  }

  /** Sessions that are open. */
  get sessions(): number {
    return this.#context.sessions?.size ?? 0;
  }

  post(posted: Posted, message: Message): Awaitable<void> {
    return this.#guard(() => postLegacy(this.#context, posted, message));
  }

  postBatch(posted: Posted, batch: readonly unknown[]): Awaitable<void> {
    return this.#guard(() => postBatch(this.#context, posted, batch));
  }

  get(exchange: Exchange, sender: Sender): Awaitable<void> {
    return this.#guard(() => getStream(this.#context, exchange, sender));
  }

  delete(exchange: Exchange, sender: Sender): Awaitable<void> {
    return this.#guard(() => deleteSession(this.#context, exchange, sender));
  }

  /** Ends the sessions and their calls. Sessions in a store stay there for the other processes. */
  async end(cause: Error): Promise<void> {
    this.#context.resumption?.stop();
    await this.#context.sessions?.clear(cause);
  }
}

/** Makes the legacy side of an endpoint. Without sessions, each request is served by itself and no stream is resumable. */
export async function openLegacyEndpoint(context: EndpointContext, options: HttpOptions): Promise<LegacyEndpoint> {
  const { sessions = true, events } = options;
  if (!sessions) return new LegacyEndpoint({ ...context, sessions: undefined, resumption: undefined });
  const limits = sessions === true ? {} : sessions;
  const cluster = await context.cluster?.load();
  if (cluster)
    return new LegacyEndpoint({ ...context, ...cluster.openSessions(context, { limits, events }) }, cluster.guard);
  const kept = new Sessions(context.core.clock, limits);
  return new LegacyEndpoint({ ...context, sessions: kept, resumption: undefined });
}
