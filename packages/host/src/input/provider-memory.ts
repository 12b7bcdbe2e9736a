import type { JsonObject } from "mcparley";
import type { ReasoningPart } from "../conversation/messages.ts";
import type { JoinedPart } from "../model/stream-parts.ts";

/**
 * The reasoning and the provider's data of recent tool calls that a server received, by the id of the call.
 *
 * Some providers require them in the request with the results of the calls. They stay in the host: a server could read or
 * change them otherwise.
 */
export interface ProviderMemory {
  remember(this: void, parts: readonly JoinedPart[]): void;
  recall(this: void, callId: string): Remembered | undefined;
}

interface Remembered {
  readonly reasoning: readonly ReasoningPart[];
  readonly providerData: JsonObject | undefined;
}

/** Maximum number of calls. One more displaces the oldest. */
const maxCalls = 100;

/** Returns the memory for the calls of one server. */
export function providerMemory(): ProviderMemory {
  const calls = new Map<string, Remembered>();
  return {
    remember(parts) {
      let reasoning: ReasoningPart[] = [];
      for (const part of parts) {
        if (part.type === "reasoning") {
          const { text, providerData } = part;
          reasoning.push({ type: "reasoning", text, ...(providerData && { providerData }) });
        }
        if (part.type !== "tool-call") continue;
        if (reasoning.length > 0 || part.providerData) {
          calls.set(part.callId, { reasoning, providerData: part.providerData });
        }
        // The reasoning belongs before the first call that follows it.
        reasoning = [];
      }
      while (calls.size > maxCalls) for (const oldest of [...calls.keys()].slice(0, 1)) calls.delete(oldest);
    },
    recall: (callId) => calls.get(callId),
  };
}
