import { type Clock, systemClock } from "../rpc/clock.ts";
import { LocalError } from "../rpc/errors.ts";
import type { Transport } from "../rpc/transport.ts";
import type { Implementation, ServerCapabilities } from "../mcp/capabilities.ts";
import type { CacheHint } from "../mcp/resources.ts";
import { supportedVersions } from "../mcp/revisions/index.ts";
import type { Answer, Call } from "./core/call.ts";
import { Changes } from "./core/changes.ts";
import { checkServer, infoOf } from "./checks/check-definition.ts";
import type { Observers, ServerCore, Stream } from "./core/server-core.ts";
import type { Principal } from "./core/context.ts";
import { answerMethod, methodTable } from "./dispatch/methods.ts";
import { type Middleware, wrap } from "./dispatch/middleware.ts";
import type { ExtensionMethod, ServerExtension } from "./core/extension.ts";
import type { RefusalError, SessionEnd } from "./core/observer.ts";
import { PreparedOffering } from "./offering.ts";
import type { Connection } from "./protocol/connection.ts";
import { type AnyServerDefinition, type ServerLimits, defaultLimits } from "./core/options.ts";
import { warnOfNames } from "./observe/warnings.ts";

/** The implementation of `ServerCore`, with the members that only `createServer` needs. */
export class PreparedServer implements ServerCore {
  readonly definition: AnyServerDefinition;
  readonly info: Implementation;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly startedAt: number;
  readonly changes: Changes = new Changes();
  readonly versions: readonly string[];
  readonly listCache: CacheHint;
  readonly offering: PreparedOffering;
  /** Middleware of the definition, without that of its extensions. */
  readonly middleware: Middleware[] = [];
  readonly extensionMethods: ReadonlyMap<string, ExtensionMethod>;
  readonly #streams = new Set<Stream>();
  readonly #connections = new Set<Connection>();
  #observers: Promise<Observers> | undefined;
  answerMethod: Answer;

  constructor(definition: AnyServerDefinition) {
    checkServer(definition);
    this.definition = definition;
    this.info = infoOf(definition);
    this.limits = { ...defaultLimits, ...definition.limits };
    this.clock = definition.clock ?? systemClock;
    this.startedAt = this.clock.now();
    this.listCache = { ttlMs: 0, cacheScope: "public", ...definition.listCache };
    this.versions = supportedVersions.filter((version) => this.serves(version));
    this.offering = new PreparedOffering(this.#offeredDefinition(), this);
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

  hasMethod(method: string): boolean {
    return methodTable.has(method) || this.extensionMethods.has(method);
  }

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

  /** Serves a transport, also if the schemas of tools are not converted yet. Resolves when the transport is open. */
  async attach(transport: Transport, principal: Principal | undefined): Promise<Connection> {
    // A server over HTTP alone has no connections.
    const { ServerConnection } = await import("./protocol/connection.ts");
    const connection = new ServerConnection(this, transport, principal);
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
    await connection.open();
    return connection;
  }

  /** Closes the connections that `attach` made. */
  async closeConnections(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  get observers(): Promise<Observers> | undefined {
    return this.definition.observers?.length ? this.#loadObservers() : undefined;
  }

  refused(what: string, principal: Principal | undefined, why: RefusalError): void {
    void this.observers?.then((observers) => observers.refused(what, principal, why));
  }

  sessionEnded(end: SessionEnd): void {
    void this.observers?.then((observers) => observers.sessionEnded(end));
  }

  report(error: unknown, call: Call | undefined): void {
    const { onError } = this.definition;
    onError?.(error, call);
    if (!onError || this.observers) void this.#loadObservers().then((observers) => observers.failed(error, call));
  }

  warn(text: string): void {
    void this.#loadObservers().then((observers) => observers.warned(text));
  }

  /** Observability is loaded with the first event. Most servers have no observer, and write nothing to the console. */
  #loadObservers(): Promise<Observers> {
    this.#observers ??= import("./observe/observers.ts").then(({ observersOf }) =>
      observersOf(this.definition, this.clock),
    );
    return this.#observers;
  }

  requireOneCopy(Loaded: unknown): void {
    if (Loaded === LocalError) return;
    const cure = 'Add "type": "module" to your package.json.';
    throw new LocalError("invalid_definition", `mcparley was loaded twice. ${cure}`);
  }

  /** Returns the definition, with the features that extensions declare even while they are empty. */
  #offeredDefinition(): AnyServerDefinition {
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
  const protocolMethod = Object.keys(methods).find((method) => methodTable.has(method));
  if (protocolMethod === undefined) return Object.entries(methods);
  throw new LocalError(
    "invalid_definition",
    `The extension ${id} may not replace ${protocolMethod}; wrap it with middleware.`,
  );
}
