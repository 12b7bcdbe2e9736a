/**
 * Names that other MCP libraries use. They exist in types only, so that the compiler's message contains the name to use.
 * Editors strike them out.
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

/** The type of `this` of a method that a server does not have. A server is no string, so every call is an error with this text. */
type NoSuchMethod<Kind extends string> =
  `There is no such method. Pass { ${Kind}s: { name: ${Kind}(...) } } to createServer, or call server.${Kind}s.set.`;

/** Methods of servers in other libraries. */
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
  /** @deprecated Does not exist. Pass the server to a transport. */
  connect(
    this: "There is no such method. Pass the server to serveStdio, listen, toFetch or connect.",
    ...given: any[]
  ): never;
}
