/** Servers on stdin and stdout, and transports over any byte streams. */
export type { Transport } from "./rpc/transport.ts";
export { type RunningStdioServer, type ServeStdioOptions, serveStdio } from "./stdio/serve-stdio.ts";
export { type StreamTransportOptions, streamTransport } from "./stdio/stream-transport.ts";
export { type OtherImport, StdioServerTransport } from "./mcp/other-imports.ts";
