/** Scripted servers, transports in memory, and a clock that a test advances. */
export type { TransportFactory } from "./client/connect/transports.ts";
export type {
  JsonObject,
  JsonRpcFailure,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  JsonRpcSuccess,
} from "./rpc/messages.ts";
export type { Transport } from "./rpc/transport.ts";
export { memoryPair } from "./rpc/memory-transport.ts";
export { type FakeClock, fakeClock, flushPromises } from "./testing/fake-clock.ts";
export { discoverResult, initializeResult, legacyPeer, modernPeer, peerTransports } from "./testing/peer-transports.ts";
export { type ReceivedMessage, type ScriptedPeer, scriptedPeer } from "./testing/scripted-peer.ts";
