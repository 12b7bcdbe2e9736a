import type { HttpConnection } from "mcparley/client";
import type { Origin } from "./approval.ts";

/** A server to connect to, or a program to start. */
export type Target =
  | { kind: "url"; url: string; headers: Record<string, string>; connection?: HttpConnection; origin?: Origin }
  | { kind: "command"; command: string; args: string[]; env: Record<string, string>; cwd: string; origin?: Origin };

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
