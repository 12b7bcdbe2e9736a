import type { ModelPart } from "../model/model-request.ts";
import { estimateTokens } from "../model/tokens.ts";
import type { InputLimits } from "./input-limits.ts";

/** The tokens that the answers for one server may still have. */
export interface TokenBudget {
  /** Tokens that are neither used nor reserved. */
  readonly left: number;
  /** Reserves tokens for an answer, at most `wanted`. Returns undefined if none are left. */
  reserve(this: void, requested: number): Reservation | undefined;
}

interface Reservation {
  /** Maximum tokens of the answer. */
  readonly tokens: number;
  /** Replaces the reservation by the tokens that the answer has. */
  settle(this: void, used: number): void;
}

/** Returns the budget of a server. Concurrent requests cannot exceed it together, because each reserves its maximum. */
export function tokenBudget({ tokensPerSample, tokensPerServer }: InputLimits): TokenBudget {
  let left = tokensPerServer;
  return {
    get left() {
      return left;
    },
    reserve(requested) {
      const tokens = Math.min(requested, tokensPerSample, left);
      if (tokens < 1) return undefined;
      left -= tokens;
      let isOpen = true;
      return {
        tokens,
        settle(used) {
          if (isOpen) left = Math.max(0, left + tokens - used);
          isOpen = false;
        },
      };
    },
  };
}

/** Returns the tokens of an answer, or of its beginning. They are estimated if the provider reports none. */
export function tokensOf(parts: readonly ModelPart[]): number {
  const finish = parts.find((part) => part.type === "finish");
  if (finish && finish.usage.outputTokens > 0) return finish.usage.outputTokens;
  return estimateTokens(parts.map(textOf).join(""));
}

function textOf(part: ModelPart): string {
  if (part.type === "text" || part.type === "reasoning") return part.text;
  return part.type === "tool-call" ? part.input : "";
}
