import { type JsonObject, MetaKey } from "../library.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";

/** Returns the capabilities that a client declared to a scripted server. */
export function offeredTo({ received }: ScriptedServer): Record<string, JsonObject | undefined> {
  const { capabilities, _meta } = (received[0]?.params ?? {}) as { capabilities?: JsonObject; _meta?: JsonObject };
  return (capabilities ?? _meta?.[MetaKey.clientCapabilities]) as Record<string, JsonObject>;
}
