/** Both sides of a conversation, and the time, in the hands of a test. */
export { memoryPair } from "./rpc/memory-transport.ts";
export { type FakeClock, fakeClock, settled } from "./testing/fake-clock.ts";
export { discoverResult, initializeResult, legacyPeer, modernPeer, peerTransports } from "./testing/peer-transports.ts";
export { type Arrived, type ScriptedPeer, scriptedPeer } from "./testing/scripted-peer.ts";
