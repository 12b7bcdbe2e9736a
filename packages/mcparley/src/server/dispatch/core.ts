import { type Awaitable, after } from "../../rpc/awaitable.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { ErrorCode, LocalError, ProtocolError, invalidParams } from "../../rpc/errors.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import type { Implementation, ServerCapabilities } from "../../mcp/capabilities.ts";
import { checkExtensionId } from "../../mcp/extension-id.ts";
import type { CacheHint } from "../../mcp/resources.ts";
import { checkBudget } from "../../schema/budget.ts";
import type { Call } from "./call.ts";
import { checkCacheHint } from "../cache-hint.ts";
import { Changes, type Listener } from "../changes.ts";
import type { Principal } from "./context.ts";
import { explained } from "../describe.ts";
import type { ExtensionMethod, ServerExtension } from "../extension.ts";
import { methodTable } from "./method-table.ts";
import { type Answer, type Middleware, wrap } from "./middleware.ts";
import type { SessionEnd } from "../observe/observer.ts";
import type { Observing, RefusalError } from "../observe/observing.ts";
import { Offering } from "../offering.ts";
import { type AnyServerDefinition, type ServerLimits, defaultLimits } from "../options.ts";
import { settle } from "./settle.ts";

/** An open stream of `subscriptions/listen`. */
export interface Stream extends Listener {
  /** Ends the stream from this side, with its graceful result. */
  end(): void;
}

/**
 * A definition made ready to answer. It holds everything that was prepared, and no connection: any number of
 * connections, sessions and requests share it.
 */
export class ServerCore {
  readonly definition: AnyServerDefinition;
  readonly info: Implementation;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly changes: Changes = new Changes();
  readonly listCache: CacheHint;
  readonly offering: Offering;
  readonly #middleware: Middleware[] = [];
  readonly #extensionMethods = new Map<string, ExtensionMethod>();
  readonly #streams = new Set<Stream>();
  /** Whether anyone watches over this server. Where nobody does, nothing of it is loaded. */
  readonly #isObserved: boolean;
  #observing: Promise<Observing> | undefined;
  #answer: Answer;

  constructor(definition: AnyServerDefinition) {
    this.definition = definition;
    this.info = infoOf(definition);
    this.limits = { ...defaultLimits, ...definition.limits };
    this.clock = definition.clock ?? systemClock;
    const { audit, logger, observers } = definition;
    this.#isObserved = Boolean(audit ?? logger ?? observers);
    checkStateKeys(definition.stateKeys);
    // The client of a database is easily taken for a store.
    if (definition.store && typeof definition.store.compareAndSet !== "function") {
      throw new LocalError("invalid_definition", "store must be a Store, such as memoryStore().");
    }
    explained("listCache", () => checkCacheHint(definition.listCache ?? {}));
    this.listCache = { ttlMs: 0, cacheScope: "public", ...definition.listCache };
    const { limits, listCache, info: serverInfo, changes } = this;
    this.offering = new Offering({ given: this.#given(), limits, listCache, serverInfo, changes });
    for (const extension of this.extensions) this.#add(extension);
    this.#answer = this.#compose();
  }

  get extensions(): readonly ServerExtension[] {
    return this.definition.extensions ?? [];
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  use(middleware: Middleware): void {
    this.#middleware.push(middleware);
    this.#answer = this.#compose();
  }

  capabilities(): ServerCapabilities {
    const capabilities = this.offering.capabilities();
    if (this.extensions.length === 0) return capabilities;
    const extensions = Object.fromEntries(this.extensions.map(({ id, settings }) => [id, settings ?? {}]));
    return { ...capabilities, extensions };
  }

  /** What an extension adds under a method's name. */
  extensionMethod(method: string): ExtensionMethod | undefined {
    return this.#extensionMethods.get(method);
  }

  /** Answers a call: through the middleware to its method, and through rounds of questions to its result. */
  dispatch(call: Call): Awaitable<JsonObject | Prepared> {
    if (!this.#isObserved) return this.#settle(call);
    return this.#observe().then((observing) => observing.call(call, () => this.#settle(call)));
  }

  /** Runs a handler, with what the definition adds to its context. What it returns may have to be waited for. */
  run(call: Call, handler: (context: any) => unknown): unknown {
    const { context } = this.definition;
    if (!context) return handler(call);
    return after(context(call), (added) => handler(Object.assign(call, added)));
  }

  /** Runs a handler of this definition in a call of another that mounts it: inside its own middleware and context. */
  runMounted(call: Call, handler: (context: any) => unknown): Awaitable<unknown> {
    return wrap(this.#middleware, async (wrapped) => (await this.run(wrapped, handler)) as JsonObject)(call);
  }

  /** Adds a stream that hears of changes; the function it returns takes it away. */
  openStream(stream: Stream): () => void {
    this.#streams.add(stream);
    const leave = this.changes.add(stream);
    return () => {
      leave();
      this.#streams.delete(stream);
    };
  }

  /** Ends every open stream with its graceful result. */
  closeStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** Tells observers of a request that was refused before it became a call. */
  refused(what: string, principal: Principal | undefined, why: RefusalError): void {
    if (this.#isObserved) void this.#observe().then((observing) => observing.refused(what, principal, why));
  }

  /** Tells observers of a session that is over. */
  sessionEnded(end: SessionEnd): void {
    if (this.#isObserved) void this.#observe().then((observing) => observing.sessionEnded(end));
  }

  /** Tells the definition's `onError`, and its observers, of what is hidden from the client. */
  report(error: unknown, call: Call | undefined): void {
    if (this.#isObserved) void this.#observe().then((observing) => observing.failed(error, call));
    const { onError, logger } = this.definition;
    if (onError) onError(error, call);
    // oxlint-disable-next-line no-console -- the last resort: a server that set neither must still hear of defects
    else if (!logger) console.error(error);
  }

  #observe(): Promise<Observing> {
    this.#observing ??= import("../observe/observing.ts").then(
      ({ Observing }) => new Observing(this.definition, this.clock),
    );
    return this.#observing;
  }

  #settle(call: Call): Awaitable<JsonObject | Prepared> {
    checkParams(call.params, this.limits);
    const run = (): ReturnType<Answer> => this.#answer(call);
    const isRetried = call.params.requestState !== undefined && !call.session;
    return isRetried ? call.asking.then(() => settle(call, run)) : settle(call, run);
  }

  #given(): AnyServerDefinition {
    const features = this.extensions.flatMap((extension) => extension.features ?? []);
    return features.length === 0
      ? this.definition
      : { ...Object.fromEntries(features.map((feature) => [feature, {}])), ...this.definition };
  }

  #compose(): Answer {
    const ofExtensions = this.extensions.flatMap(({ middleware }) => (middleware as Middleware | undefined) ?? []);
    return wrap([...this.#middleware, ...ofExtensions], (call) => this.#find(call)(call));
  }

  #find({ method, revision }: Call): Answer {
    const added = this.#extensionMethods.get(method);
    if (added && (added.eras ?? ["modern"]).includes(revision.era)) return (call) => added.answer(call);
    const entry = revision.clientRequests.has(method) ? methodTable.get(method) : undefined;
    if (entry?.offered(this.offering)) return entry.answer;
    throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method.slice(0, 200)}`);
  }

  #add(extension: ServerExtension): void {
    checkExtensionId(extension.id);
    for (const [method, answer] of Object.entries(extension.methods ?? {})) {
      if (methodTable.has(method)) {
        const why = `The extension ${extension.id} may not replace ${method}; wrap it with middleware.`;
        throw new LocalError("invalid_definition", why);
      }
      this.#extensionMethods.set(method, answer);
    }
  }
}

/** Refuses params that are too deep or too large, before a validator, a digest or anything else that is recursive sees them. */
export function checkParams(params: JsonObject, limits: ServerLimits): void {
  for (const name in params) {
    const excess = checkBudget(params[name], limits);
    if (excess) throw invalidParams(`params.${name.slice(0, 80)}: ${excess}`);
  }
}

function infoOf(definition: AnyServerDefinition): Implementation {
  const { name, version, title, description, websiteUrl, icons } = definition;
  if (typeof name !== "string" || name === "" || typeof version !== "string" || version === "") {
    throw new LocalError("invalid_definition", "A server needs a name and a version, both non-empty strings.");
  }
  const info: Implementation = { name, version };
  if (title !== undefined) info.title = title;
  if (description !== undefined) info.description = description;
  if (websiteUrl !== undefined) info.websiteUrl = websiteUrl;
  if (icons !== undefined) info.icons = icons;
  return info;
}

/** Keys that cannot seal are found when the server is made, not when a call first asks. */
function checkStateKeys(keys: readonly Uint8Array[] | undefined): void {
  if (keys && (keys.length === 0 || keys.some(({ length }) => length !== 32))) {
    throw new LocalError("invalid_definition", "stateKeys must hold at least one key, and each must have 32 bytes.");
  }
}
