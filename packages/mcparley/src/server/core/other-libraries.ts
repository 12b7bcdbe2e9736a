/**
 * Names that other MCP libraries use. The types make the compiler's message contain the name to use, and editors strike the
 * names out. At run time `checkMembers` refuses the members.
 */

/** Members of the definition of a tool in other libraries. */
export interface OtherToolNames {
  /** @deprecated Use `input`. */
  inputSchema?: 'Use "input" instead of "inputSchema".';
  /** @deprecated Use `output`. */
  outputSchema?: 'Use "output" instead of "outputSchema".';
  /** @deprecated Use `input`. */
  parameters?: 'Use "input" instead of "parameters".';
  /** @deprecated Use `call`. */
  execute?: 'Use "call" instead of "execute".';
  /** @deprecated Use `call`. */
  handler?: 'Use "call" instead of "handler".';
}

/** Members of the definition of a prompt in other libraries. */
export interface OtherPromptNames {
  /** @deprecated Use `arguments`. */
  argsSchema?: 'Use "arguments: { name: { required: true } }" instead of "argsSchema".';
  /** @deprecated Use `get`. */
  load?: 'Use "get" instead of "load".';
}

/** The type of a function that a context does not have. The compiler's message for a call of it contains the text. */
type NoSuchFunction<Cure extends string> = (this: Cure, ...given: any[]) => never;

/** Members of the context of a handler in other libraries. They are optional, because the context of a test does not need them. */
export interface OtherContextNames {
  /** @deprecated Use `principal`. */
  readonly authInfo?: "Use ctx.principal.";
  /** @deprecated Does not exist. Use `notify`, `log` or `progress`. */
  readonly sendNotification?: NoSuchFunction<"Use ctx.notify, ctx.log or ctx.progress.">;
  /** @deprecated Does not exist. Use `elicit`, `sample` or `roots`. */
  readonly sendRequest?: NoSuchFunction<"Use ctx.elicit, ctx.sample or ctx.roots.">;
  /** @deprecated Does not exist. Use `elicit`. */
  readonly elicitInput?: NoSuchFunction<"Use ctx.elicit({ message, schema }).">;
  /** @deprecated Does not exist. Use `progress`. */
  readonly reportProgress?: NoSuchFunction<"Use ctx.progress(done, total).">;
  /** @deprecated Does not exist. Return the content, and send notifications before. */
  readonly streamContent?: NoSuchFunction<"Return all content at the end. Use ctx.progress or ctx.notify before.">;
  /** @deprecated The members of the context do not need it. */
  readonly mcpReq?: "Use the members of ctx, such as ctx.elicit, ctx.signal and ctx.log.";
  /** @deprecated Use `session`. */
  readonly sessionId?: "Use ctx.session.";
}

/**
 * The part of a context to use in place of each member, after `ctx.`. Common words have no type above, because the `context` of a
 * server can have such members.
 */
const contextCures: Record<keyof OtherContextNames | "debug" | "info" | "warn" | "warning" | "error", string> = {
  authInfo: "principal",
  sendNotification: "notify, ctx.log or ctx.progress",
  sendRequest: "elicit, ctx.sample or ctx.roots",
  elicitInput: "elicit({ message, schema })",
  reportProgress: "progress(done, total)",
  mcpReq: "elicit, ctx.signal or ctx.log",
  sessionId: "session",
  debug: "log.debug(data)",
  info: "log.info(data)",
  warn: "log.warning(data)",
  warning: "log.warning(data)",
  error: "log.error(data)",
  streamContent: "progress or ctx.notify, and return all content at the end",
};

/**
 * Returns the prototype of the class of contexts. To read a member of other libraries throws an error that names what to use:
 * `undefined` would pass a check of `authInfo?.scopes`. The `context` of a server can set such a member.
 */
export function otherContext(): object {
  return refusedMembers("The context", contextCures);
}

/** Returns the prototype of `ctx.log`, with the levels of other libraries. */
export function otherLog(): object {
  return refusedMembers("ctx.log", {
    trace: "log.debug(data)",
    warn: "log.warning(data)",
    fatal: "log.critical(data)",
  });
}

function refusedMembers(owner: string, cures: Readonly<Record<string, string>>): object {
  const members = Object.entries(cures).map(([name, cure]): [string, PropertyDescriptor] => [
    name,
    {
      get: () => {
        throw new TypeError(`${owner} has no "${name}". Use ctx.${cure}.`);
      },
      set(value) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
      },
    },
  ]);
  return Object.defineProperties({}, Object.fromEntries(members));
}

/** The type of `this` of a method that a server does not have. A server is no string, so every call is an error with this text. */
type NoSuchMethod<Kind extends string> =
  `There is no such method. Pass { ${Kind}s: { name: ${Kind}(...) } } to createServer, or call server.${Kind}s.set.`;

/** Methods of servers in other libraries. At run time, only those that start a server or add to it explain what to use. */
export interface OtherServerMethods {
  /** @deprecated Does not exist. Use `tools` of `createServer`. */
  tool(this: NoSuchMethod<"tool">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `tools` of `createServer`. */
  registerTool(this: NoSuchMethod<"tool">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `tools` of `createServer`. */
  addTool(this: NoSuchMethod<"tool">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `prompts` of `createServer`. */
  registerPrompt(this: NoSuchMethod<"prompt">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `resources` of `createServer`. */
  registerResource(this: NoSuchMethod<"resource">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `resources.updated`. */
  sendResourceUpdated(this: "There is no such method. Call server.resources.updated(uri).", ...given: any[]): never;
  /** @deprecated Does not exist. Changes of `resources` are announced. */
  sendResourceListChanged(
    this: "There is no such method. server.resources.set, delete and listChanged notify clients.",
    ...given: any[]
  ): never;
  /** @deprecated Does not exist. Changes of `tools` are announced. */
  sendToolListChanged(
    this: "There is no such method. server.tools.set and delete notify clients.",
    ...given: any[]
  ): never;
  /** @deprecated Does not exist. Changes of `prompts` are announced. */
  sendPromptListChanged(
    this: "There is no such method. server.prompts.set and delete notify clients.",
    ...given: any[]
  ): never;
  /** @deprecated Does not exist. Use `log` of the context. */
  sendLoggingMessage(this: "There is no such method. Call ctx.log.info(data) in a handler.", ...given: any[]): never;
  /** @deprecated Does not exist. Pass the server to a transport. */
  connect(
    this: "There is no such method. Pass the server to serveStdio, listen, toFetch or connect.",
    ...given: any[]
  ): never;
}

type Kind = "tool" | "prompt" | "resource" | "server";

const otherServerMethods: Record<Kind, string> = {
  tool: "tool registerTool addTool setRequestHandler",
  prompt: "prompt registerPrompt addPrompt",
  resource: "resource registerResource addResource addResourceTemplate",
  server: "connect start listen run serve",
};

/** Returns the prototype of a server: methods of servers in other libraries. Each throws an error that names what to use. */
export function otherMethods(): object {
  return Object.fromEntries(
    Object.entries(otherServerMethods).flatMap(([kind, names]) =>
      names.split(" ").map((name) => [name, () => refuseMethod(name, kind)]),
    ),
  );
}

function refuseMethod(method: string, kind: string): never {
  const cure =
    kind === "server"
      ? "Pass the server to serveStdio, listen, toFetch or connect."
      : `Pass { ${kind}s: { name: ${kind}(...) } } to createServer, or call server.${kind}s.set(name, ${kind}(...)).`;
  throw new TypeError(`A server has no method "${method}". ${cure}`);
}
