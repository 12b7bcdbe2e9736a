import { type JsonObject, MetaKey } from "../library.ts";
import type { Scripted } from "./scripted.ts";

/** Returns the capabilities that a client declared to a scripted server. */
export function offeredTo({ received }: Scripted): Record<string, JsonObject | undefined> {
  const { capabilities, _meta } = (received[0]?.params ?? {}) as { capabilities?: JsonObject; _meta?: JsonObject };
  return (capabilities ?? _meta?.[MetaKey.clientCapabilities]) as Record<string, JsonObject>;
}
