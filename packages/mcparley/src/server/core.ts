import { type Clock, systemClock } from "../rpc/clock.ts";
import { LocalError } from "../rpc/errors.ts";
import type { Implementation, ServerCapabilities } from "../mcp/capabilities.ts";
import type { CacheHint } from "../mcp/resources.ts";
import { supportedVersions } from "../mcp/revisions/index.ts";
import type { Call } from "./dispatch/call.ts";
import { Changes, type Listener } from "./changes.ts";
import type { Principal } from "./dispatch/context.ts";
import { checkServer, infoOf, warnOfNames } from "./check-definition.ts";
import type { ExtensionMethod, ServerExtension } from "./extension.ts";
import { answerMethod, methodTable } from "./dispatch/methods.ts";
import { type Answer, type Middleware, wrap } from "./dispatch/middleware.ts";
import type { Observers, RefusalError, SessionEnd } from "./observe/observer.ts";
import { Offering } from "./offering.ts";
import { type AnyServerDefinition, type ServerLimits, defaultLimits } from "./options.ts";

/** An open stream of `subscriptions/listen`. */
export interface Stream extends Listener {
  /** Ends the stream with its graceful result. */
  end(): void;
}

/**
 * A prepared server definition. It holds no connection, so any number of connections, sessions and requests share it.
 */
export class ServerCore {
  readonly definition: AnyServerDefinition;
  readonly info: Implementation;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly changes: Changes = new Changes();
  /** The protocol versions that the server names to clients, the newest first. */
  readonly versions: readonly string[];
  readonly listCache: CacheHint;
  readonly offering: Offering;
  /** Middleware of the definition, without that of its extensions. */
  readonly middleware: Middleware[] = [];
  /** The methods of all extensions, by name. */
  readonly extensionMethods: ReadonlyMap<string, ExtensionMethod>;
  readonly #streams = new Set<Stream>();
  readonly #isObserved: boolean;
  #observers: Promise<Observers> | undefined;
  /** Answers a call by its method, inside the middleware. */
  answerMethod: Answer;

  constructor(definition: AnyServerDefinition) {
    checkServer(definition);
    this.definition = definition;
    this.info = infoOf(definition);
    this.limits = { ...defaultLimits, ...definition.limits };
    this.clock = definition.clock ?? systemClock;
    this.#isObserved = Boolean(definition.observers?.length);
    this.listCache = { ttlMs: 0, cacheScope: "public", ...definition.listCache };
    const { limits, listCache, info: serverInfo, changes } = this;
    this.versions = supportedVersions.filter((version) => this.serves(version));
    this.offering = new Offering({ given: this.#given(), limits, listCache, serverInfo, changes });
    this.extensionMethods = new Map(this.extensions.flatMap(methodsOf));
    warnOfNames(this);
    this.answerMethod = this.#compose();
  }

  get extensions(): readonly ServerExtension[] {
    return this.definition.extensions ?? [];
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  use(middleware: Middleware): void {
    this.middleware.push(middleware);
    this.answerMethod = this.#compose();
  }

  /** Whether the server serves a protocol version. */
  serves(version: string): boolean {
    return this.definition.revisions?.includes(version) ?? true;
  }

  capabilities(): ServerCapabilities {
    const capabilities = this.offering.capabilities();
    const { experimental } = this.definition;
    if (experimental) capabilities.experimental = experimental;
    if (this.extensions.length === 0) return capabilities;
    const extensions = Object.fromEntries(this.extensions.map(({ id, settings }) => [id, settings ?? {}]));
    return { ...capabilities, extensions };
  }

  /** Whether the protocol or an extension defines a method that middleware receives. */
  hasMethod(method: string): boolean {
    return methodTable.has(method) || this.extensionMethods.has(method);
  }

  /** Adds a stream that receives changes. The returned function removes it. */
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

  /** The observers of the server. Undefined if it has none: their code is then never loaded. */
  get observers(): Promise<Observers> | undefined {
    if (!this.#isObserved) return undefined;
    this.#observers ??= import("./observe/observer.ts").then(({ observersOf }) =>
      observersOf(this.definition, this.clock),
    );
    return this.#observers;
  }

  /** Notifies observers of a request that was rejected before it became a call. */
  refused(what: string, principal: Principal | undefined, why: RefusalError): void {
    void this.observers?.then((observers) => observers.refused(what, principal, why));
  }

  /** Notifies observers of a session that ended. */
  sessionEnded(end: SessionEnd): void {
    void this.observers?.then((observers) => observers.sessionEnded(end));
  }

  /** Passes an error that is hidden from the client to `onError` and the observers; to the console if none takes errors. */
  report(error: unknown, call: Call | undefined): void {
    void this.observers?.then((observers) => observers.failed(error, call));
    const { onError, observers } = this.definition;
    if (onError) onError(error, call);
    // Loaded with the first such error, to keep it out of the start of a server.
    else void import("./observe/to-console.ts").then(({ toConsole }) => toConsole(error, observers));
  }

  /** Returns the definition, with the features that extensions declare even while they are empty. */
  #given(): AnyServerDefinition {
    const features = this.extensions.flatMap((extension) => extension.features ?? []);
    return features.length === 0
      ? this.definition
      : { ...Object.fromEntries(features.map((feature) => [feature, {}])), ...this.definition };
  }

  #compose(): Answer {
    const ofExtensions = this.extensions.flatMap(({ middleware }) => (middleware as Middleware | undefined) ?? []);
    return wrap([...this.middleware, ...ofExtensions], answerMethod);
  }
}

/** Returns the methods of an extension, by name. Throws `invalid_definition` if one is a method of the protocol. */
function methodsOf({ id, methods = {} }: ServerExtension): [name: string, method: ExtensionMethod][] {
  const replaced = Object.keys(methods).find((method) => methodTable.has(method));
  if (replaced === undefined) return Object.entries(methods);
  throw new LocalError(
    "invalid_definition",
    `The extension ${id} may not replace ${replaced}; wrap it with middleware.`,
  );
}
