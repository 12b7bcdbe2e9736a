/**
 * Functions and classes that users of other libraries import, and functions of this library that are imported from the wrong
 * entry point. They exist so that the error names the right import: an ES module cannot explain that an export is missing.
 *
 * A bundler removes those that are not imported.
 */

/** A name that throws when it is called. The compiler's message contains `M`: no argument and no `this` has this type. */
export interface OtherImport<M extends string> {
  (this: M, ...given: any[]): never;
  new (message: M): never;
}

function otherImport<const M extends string>(message: M): OtherImport<M> {
  return function () {
    throw new TypeError(message);
  } as unknown as OtherImport<M>;
}

/** @deprecated Import it from `mcparley/server`. */
export const createServer: OtherImport<'Write import { createServer } from "mcparley/server".'> =
  /* @__PURE__ */ otherImport('Write import { createServer } from "mcparley/server".');
/** @deprecated Import it from `mcparley/server`. */
export const tool: OtherImport<'Write import { tool } from "mcparley/server".'> = /* @__PURE__ */ otherImport(
  'Write import { tool } from "mcparley/server".',
);
/** @deprecated Import it from `mcparley/server`. */
export const prompt: OtherImport<'Write import { prompt } from "mcparley/server".'> = /* @__PURE__ */ otherImport(
  'Write import { prompt } from "mcparley/server".',
);
/** @deprecated Import it from `mcparley/server`. */
export const resource: OtherImport<'Write import { resource } from "mcparley/server".'> = /* @__PURE__ */ otherImport(
  'Write import { resource } from "mcparley/server".',
);
/** @deprecated Import it from `mcparley/client`. */
export const connect: OtherImport<'Write import { connect } from "mcparley/client".'> = /* @__PURE__ */ otherImport(
  'Write import { connect } from "mcparley/client".',
);
/** @deprecated Import it from `mcparley/stdio`. */
export const serveStdio: OtherImport<'Write import { serveStdio } from "mcparley/stdio".'> =
  /* @__PURE__ */ otherImport('Write import { serveStdio } from "mcparley/stdio".');
/** @deprecated Import it from `mcparley/node`. */
export const listen: OtherImport<'Write import { listen } from "mcparley/node".'> = /* @__PURE__ */ otherImport(
  'Write import { listen } from "mcparley/node".',
);
/** @deprecated Import it from `mcparley/http`. */
export const toFetch: OtherImport<'Write import { toFetch } from "mcparley/http".'> = /* @__PURE__ */ otherImport(
  'Write import { toFetch } from "mcparley/http".',
);
/** @deprecated Does not exist. Use `createServer`. */
export const McpServer: OtherImport<'mcparley has no McpServer. Use createServer({ name, version, tools: { add: tool({ input, call }) } }) of "mcparley/server".'> =
  /* @__PURE__ */ otherImport(
    'mcparley has no McpServer. Use createServer({ name, version, tools: { add: tool({ input, call }) } }) of "mcparley/server".',
  );
/** @deprecated Does not exist. Use `serveStdio`. */
export const StdioServerTransport: OtherImport<"mcparley has no StdioServerTransport. Use serveStdio(server)."> =
  /* @__PURE__ */ otherImport("mcparley has no StdioServerTransport. Use serveStdio(server).");
/** @deprecated Does not exist. Use `listen`, `toNodeHandler` or `toFetch`. */
export const StreamableHTTPServerTransport: OtherImport<'mcparley has no StreamableHTTPServerTransport. Use toFetch(server), or listen(server, { port }) and toNodeHandler(server) of "mcparley/node".'> =
  /* @__PURE__ */ otherImport(
    'mcparley has no StreamableHTTPServerTransport. Use toFetch(server), or listen(server, { port }) and toNodeHandler(server) of "mcparley/node".',
  );
/** @deprecated Does not exist. Use `connect`. */
export const StdioClientTransport: OtherImport<"mcparley has no StdioClientTransport. Use connect({ command, args })."> =
  /* @__PURE__ */ otherImport("mcparley has no StdioClientTransport. Use connect({ command, args }).");
/** @deprecated Does not exist. Use `connect`. */
export const StreamableHTTPClientTransport: OtherImport<"mcparley has no StreamableHTTPClientTransport. Use connect(url)."> =
  /* @__PURE__ */ otherImport("mcparley has no StreamableHTTPClientTransport. Use connect(url).");
