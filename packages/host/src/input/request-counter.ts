import type { Clock } from "mcparley";
import type { InputKind } from "../activity/call-activity.ts";
import type { InputLimits } from "./input-limits.ts";

/** Counts the input requests of one server, and the calls that may have caused them. */
export interface RequestCounter {
  /** Notes that a call has started. Returns a function that notes its end. */
  callStarted(this: void, label: string): () => void;
  /**
   * Counts a request. Returns the limit that it exceeds, if any. `isFlood` is true if the server continues after many
   * refused requests of a call.
   */
  take(this: void, kind: InputKind, during: string | undefined): Refusal | undefined;
}

/** A request over a limit. */
interface Refusal {
  readonly limit: keyof InputLimits;
  readonly isFlood: boolean;
}

/** Number of refused requests of a call after which the call is ended. */
const maxRefused = 10;

const minute = 60_000;

/**
 * Returns a counter. A request of a legacy server does not name its call, so the calls with the same label share their limits: three
 * calls in flight may cause three times as many requests. A request outside of a call has only the limit per minute.
 */
export function requestCounter(limits: InputLimits, clock: Clock): RequestCounter {
  const active = new Map<string, number>();
  const counts = new Map<string, Counts>();
  let times: number[] = [];

  const countsOf = (during: string | undefined): Counts => {
    const key = during ?? "";
    const found = counts.get(key) ?? { elicitations: 0, samples: 0, refused: 0 };
    counts.set(key, found);
    return found;
  };
  const callsOf = (during: string | undefined): number => {
    const total = [...active.values()].reduce((sum, count) => sum + count, 0);
    return during === undefined ? total : (active.get(during) ?? Math.min(total, 1));
  };
  const exceeded = (kind: InputKind, during: string | undefined): keyof InputLimits | undefined => {
    const now = clock.now();
    times = times.filter((time) => time > now - minute);
    const [calls, count] = [callsOf(during), countsOf(during)];
    if (calls > 0 && (kind === "form" || kind === "url") && ++count.elicitations > limits.elicitationsPerCall * calls) {
      return "elicitationsPerCall";
    }
    if (calls > 0 && kind === "sampling" && ++count.samples > limits.samplesPerCall * calls) return "samplesPerCall";
    if (times.length >= limits.requestsPerMinute) return "requestsPerMinute";
    times.push(now);
    return undefined;
  };
  return {
    callStarted(label) {
      active.set(label, (active.get(label) ?? 0) + 1);
      return () => {
        const left = (active.get(label) ?? 1) - 1;
        if (left > 0) active.set(label, left);
        else {
          active.delete(label);
          counts.delete(label);
        }
        if (active.size === 0) counts.clear();
      };
    },
    take(kind, during) {
      const limit = exceeded(kind, during);
      if (limit === undefined) return undefined;
      return { limit, isFlood: callsOf(during) > 0 && ++countsOf(during).refused > maxRefused };
    },
  };
}

interface Counts {
  elicitations: number;
  samples: number;
  refused: number;
}
