import { type JsonObject, MetaKey } from "../library.ts";
import type { Scripted } from "./scripted.ts";

/** What a client has declared to a scripted server, whenever the revision has it do so. */
export function offeredTo({ received }: Scripted): Record<string, JsonObject | undefined> {
  const { capabilities, _meta } = (received[0]?.params ?? {}) as { capabilities?: JsonObject; _meta?: JsonObject };
  return (capabilities ?? _meta?.[MetaKey.clientCapabilities]) as Record<string, JsonObject>;
}
