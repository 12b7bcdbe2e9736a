/**
 * Names that other libraries use. They exist in types only, so that the compiler's message contains the name to use. Editors
 * strike them out.
 */

/** Members of the definition of a tool in other libraries. */
export interface NamesOfOthers {
  /** @deprecated Use `input`. */
  inputSchema?: 'Write "input" in place of "inputSchema".';
  /** @deprecated Use `output`. */
  outputSchema?: 'Write "output" in place of "outputSchema".';
  /** @deprecated Use `input`. */
  parameters?: 'Write "input" in place of "parameters".';
  /** @deprecated Use `call`. */
  execute?: 'Write "call" in place of "execute".';
  /** @deprecated Use `call`. */
  handler?: 'Write "call" in place of "handler".';
}

/** Members of the definition of a prompt in other libraries. */
export interface PromptNamesOfOthers {
  /** @deprecated Use `arguments`. */
  argsSchema?: 'Write "arguments: { name: { required: true } }" in place of "argsSchema".';
  /** @deprecated Use `get`. */
  load?: 'Write "get" in place of "load".';
}

/** `this` of a method that a server does not have. No server is a text, so that every call is an error with the text. */
type Added<Kind extends string> =
  `There is no such method. Pass { ${Kind}s: { name: ${Kind}(...) } } to createServer, or call server.${Kind}s.set.`;

/** Methods of servers in other libraries. */
export interface MethodsOfOthers {
  /** @deprecated Does not exist. Use `tools` of `createServer`. */
  tool(this: Added<"tool">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `tools` of `createServer`. */
  registerTool(this: Added<"tool">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `tools` of `createServer`. */
  addTool(this: Added<"tool">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `prompts` of `createServer`. */
  registerPrompt(this: Added<"prompt">, ...given: any[]): never;
  /** @deprecated Does not exist. Use `resources` of `createServer`. */
  registerResource(this: Added<"resource">, ...given: any[]): never;
  /** @deprecated Does not exist. Pass the server to a transport. */
  connect(
    this: "There is no such method. Pass the server to serveStdio, listen, toFetch or connect.",
    ...given: any[]
  ): never;
}
