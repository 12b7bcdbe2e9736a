import { LocalError } from "../rpc/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Transport } from "../rpc/transport.ts";
import { type Call, handlerContext } from "./core/call.ts";
import type { Connection } from "./protocol/connection.ts";
import { completeVisit } from "./protocol/url-visits.ts";
import type { Principal } from "./core/context.ts";
import { PreparedServer } from "./prepared-server.ts";
import { checkMethods } from "./checks/check-definition.ts";
import { convertTools, convertToolsWhenIdle } from "./checks/convert-tools.ts";
import type { Prompt, Resource, ResourceRegistry, Tool } from "./core/definition-types.ts";
import { type MethodMiddleware, type Middleware, byMethod, wrap } from "./dispatch/middleware.ts";
import type { AnyServerDefinition, ServerDefinition } from "./core/options.ts";
import type { Registry } from "./core/registry.ts";
import { type OtherServerMethods, otherMethods } from "./core/other-libraries.ts";

/** A record of definitions with a prefix and a dot before each name. */
export type PrefixedDefinitions<T, N extends string> = { readonly [K in keyof T & string as `${N}.${K}`]: T[K] };

/**
 * A server. It can be served on any number of connections at the same time, and changed while it is served.
 *
 * `T`, `P` and `R` are the types of its tools, prompts and resources. `connect<typeof server>` makes a client typed by them.
 */
export interface Server<T = object, P = object, R = object, C = any> extends OtherServerMethods {
  /** The `name` of the definition. */
  readonly name: string;
  /** The `version` of the definition. */
  readonly version: string;
  /** The tools of the server. Changes apply at once. */
  readonly tools: Registry<Tool<any, any, C>>;
  /** The prompts of the server. Changes apply at once. */
  readonly prompts: Registry<Prompt<any, C>>;
  /** The resources and resource templates of the server. Changes apply at once. */
  readonly resources: ResourceRegistry<C>;
  /**
   * Adds middleware for every method, or for methods by name. It runs inside the middleware that was added before. Throws
   * `LocalError` `invalid_definition` for a method that neither the protocol nor an extension of the server defines.
   *
   * @example
   * ```ts
   * import { createServer } from "mcparley/server";
   *
   * const server = createServer({ name: "shop", version: "1.0.0" });
   * server.use({
   *   "tools/list": async (call, next) => ({ ...(await next()), ttlMs: call.principal ? 0 : 60_000 }),
   * });
   * ```
   */
  use<M extends string>(middleware: Middleware | MethodMiddleware<M>): this;
  /**
   * Adds the tools, prompts and resources of another server, and follows its later changes. Names get `prefix` and a dot
   * in front; URIs stay the same. The handlers run with the middleware and context of the other server. Returns this
   * server, with the added names in its type.
   *
   * @example
   * ```ts
   * import { createServer, tool } from "mcparley/server";
   *
   * const reset = tool({ description: "Resets the shop.", call: () => "Done." });
   * const admin = createServer({ name: "admin", version: "1.0.0", tools: { reset } });
   * // The tool is named "admin.reset".
   * const shop = createServer({ name: "shop", version: "1.0.0" }).mount("admin", admin);
   * ```
   */
  mount<const N extends string, T2, P2, R2>(
    prefix: N,
    other: Server<T2, P2, R2, any>,
  ): Server<T & PrefixedDefinitions<T2, N>, P & PrefixedDefinitions<P2, N>, R & PrefixedDefinitions<R2, N>, C>;
  /**
   * Serves one transport, such as a custom one. Resolves when the transport is open. Rejects if a schema cannot be converted. `principal` is the verified caller of all
   * its requests, or `localUser`. Default: none, so definitions with `scopes` are hidden. The connection ends with the transport, with its `close`, or with `close` of the server.
   */
  attach(transport: Transport, options?: { principal?: Principal | undefined }): Promise<Connection>;
  /**
   * Notifies the client that was asked for a visit to a URL that the visit is complete (2025-11-25, client/elicitation). The
   * id is the `elicitationId` of `ctx.elicit` or `urlRequired`. Over HTTP with a store, any process of the server can call it.
   * Returns false if no open session was asked for this visit, or if it is complete already.
   */
  elicitationComplete(elicitationId: string): Promise<boolean>;
  /** Ends open streams with their graceful result and closes the connections that `attach` made. */
  close(): Promise<void>;
  readonly "~types"?: { tools: T; prompts: P; resources: R };
}

/** The members of a server that exist at run time. */
type ServerMembers<T, P, R, C> = Omit<Server<T, P, R, C>, keyof OtherServerMethods>;

const cores = new WeakMap<object, PreparedServer>();

/** Returns the prepared definition of a server, for the transports of this package. */
export function coreOf(server: Server<unknown, unknown, unknown>): PreparedServer {
  const core = cores.get(server);
  if (core) return core;
  throw new LocalError(
    "invalid_target",
    "This is not a server of this copy of mcparley. Pass the return value of createServer.",
  );
}

/**
 * Serves a transport as `attach` does, but converts the schemas of tools after the connection is open. `conversion` rejects for a
 * definition that cannot be offered. A server of another copy of this package converts before.
 */
export async function attachBeforeConversion(
  server: Pick<Server<unknown, unknown, unknown>, "attach">,
  transport: Transport,
  principal: Principal | undefined,
): Promise<{ connection: Connection; conversion: Promise<void> | undefined }> {
  const core = cores.get(server);
  if (!core) return { connection: await server.attach(transport, { principal }), conversion: undefined };
  const connection = await core.attach(transport, principal);
  return { connection, conversion: convertToolsWhenIdle(core) };
}

/**
 * Makes a server from tools, prompts and resources by name.
 *
 * Throws `LocalError` `invalid_definition`, naming the definition, if one is invalid. The schemas of a library in its tools
 * are converted to JSON Schema when it is served, so that servers with many tools start fast. For one that cannot be converted,
 * `listen`, `serveStdio` and `connect` reject with the same error; `toFetch` and `toNodeHandler` pass it to `onError` and answer
 * with status 500. To serve the server, pass it to one of these functions.
 *
 * @example
 * ```ts
 * import { createServer, tool } from "mcparley/server";
 * import { serveStdio } from "mcparley/stdio";
 *
 * const hello = tool({ description: "Greets the user.", call: () => "Hello!" });
 * const server = createServer({ name: "hello", version: "1.0.0", tools: { hello } });
 * serveStdio(server);
 * ```
 */
export function createServer<
  T extends object = object,
  P extends object = object,
  R extends object = object,
  C extends object = object,
>(definition: ServerDefinition<T, P, R, C>): Server<T, P, R, C> {
  // A number is the index of `map`.
  if (typeof arguments[1] === "object")
    throw new LocalError(
      "invalid_definition",
      "createServer has one parameter: createServer({ name, version, tools }).",
    );
  const core = new PreparedServer(definition as AnyServerDefinition);
  const { tools, prompts, resources } = core.offering;
  const server: ServerMembers<T, P, R, C> = {
    name: core.info.name,
    version: core.info.version,
    tools,
    prompts,
    resources: Object.assign(resources, {
      updated: core.changes.resourceUpdated.bind(core.changes),
      listChanged() {
        // Setting a template again also notifies the clients of servers on which this one is mounted.
        for (const [name, definition] of resources) if (definition.list) resources.set(name, definition);
      },
    }),
    use(middleware) {
      core.use(
        typeof middleware === "function"
          ? middleware
          : byMethod(checkMethods(middleware, (method) => core.hasMethod(method))),
      );
      return this as never;
    },
    mount(prefix, otherServer) {
      mount(core, prefix, coreOf(otherServer));
      return this as never;
    },
    async attach(transport, { principal } = {}) {
      convertTools(core);
      return core.attach(transport, principal);
    },
    elicitationComplete: (id) => completeVisit(core, id),
    async close() {
      core.closeStreams();
      await core.closeConnections();
      for (const extension of core.extensions) await extension.close?.(core);
    },
  };
  Object.setPrototypeOf(server, otherMethods());
  cores.set(server, core);
  for (const extension of core.extensions) extension.offer?.(server);
  return server as Server<T, P, R, C>;
}

/** Adds the tools, prompts and resources of `other` to `core`, and follows their changes. */
function mount(core: PreparedServer, prefix: string, otherCore: PreparedServer): void {
  const prefixName = (name: string): string => `${prefix}.${name}`;
  // A handler of `other` runs with the middleware and context of `other`, in the call to `core`.
  const run = (call: object, handler: (ctx: any) => unknown): unknown =>
    wrap(
      otherCore.middleware,
      async (wrappedCall) => (await handler(await handlerContext(wrappedCall, otherCore))) as JsonObject,
    )(call as Call);
  const wrapHandler = (handler: (input: never, ctx: any) => unknown) => (input: unknown, ctx: object) =>
    run(ctx, (context) => handler(input as never, context));
  const adopt = {
    tools: (tool: Tool): Tool => ({ ...tool, call: wrapHandler(tool.call) }),
    prompts: (prompt: Prompt): Prompt => ({ ...prompt, get: wrapHandler(prompt.get) }),
    resources: (resource: Resource): Resource => {
      const { list } = resource;
      const copy = { ...resource, read: wrapHandler(resource.read) };
      return list ? { ...copy, list: (ctx) => run(ctx, list) } : copy;
    },
  };
  for (const kind of ["tools", "prompts", "resources"] as const) {
    const target = core.offering[kind] as Registry<any>;
    const source = otherCore.offering[kind];
    // A copy of a definition may have its name on the other server.
    const add = (name: string, definition: object): void =>
      target.set(prefixName(name), { ...adopt[kind](definition as never), name: undefined });
    for (const [name, definition] of source) add(name, definition);
    source.onChange((entry, previous) => {
      if (entry) add(entry.name, entry.definition);
      else if (previous) target.delete(prefixName(previous.name));
    });
  }
  otherCore.changes.add({
    wants: (change) => "uri" in change,
    deliver: (change) => {
      if ("uri" in change) core.changes.resourceUpdated(change.uri, change._meta);
    },
  });
}
