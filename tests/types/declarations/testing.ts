import {
  discoverResult,
  fakeClock,
  initializeResult,
  legacyPeer,
  memoryPair,
  modernPeer,
  peerTransports,
  scriptedPeer,
  flushPromises,
} from "mcparley/testing";

export const discovered = discoverResult();
export const initialized = initializeResult();
export const clock = fakeClock();
export const pair = memoryPair();
export const rest = flushPromises();
export const legacy = (...given: Parameters<typeof legacyPeer>) => legacyPeer(...given);
export const modern = (...given: Parameters<typeof modernPeer>) => modernPeer(...given);
export const transports = (...given: Parameters<typeof peerTransports>) => peerTransports(...given);
export const scripted = (...given: Parameters<typeof scriptedPeer>) => scriptedPeer(...given);
