import type { HttpConnection } from "mcparley/client";
import type { Origin } from "./approval.ts";

/** The facts of a server that a configuration has in addition. */
interface ConfiguredFacts {
  origin?: Origin;
  /** The revision of the protocol that the entry sets. */
  revision?: string;
}

/** A server to connect to, or a program to start. */
export type Target = ConfiguredFacts &
  (
    | { kind: "url"; url: string; headers: Record<string, string>; connection?: HttpConnection }
    | { kind: "command"; command: string; args: string[]; env: Record<string, string>; cwd: string }
  );

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
