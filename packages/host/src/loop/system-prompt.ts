import { labelServerText, serverTextRules } from "../conversation/server-text.ts";
import { cutBytes, utf8Bytes } from "../conversation/text-size.ts";

/** The instructions of a server for the use of its tools. */
export interface ServerInstructions {
  readonly server: string;
  readonly text: string;
}

/** Maximum bytes of the instructions of one server. */
const MAX_INSTRUCTIONS_BYTES = 2 * 1024;

/**
 * Returns the system prompt: the caller's instructions, the explanation of the labels, and then the labelled instructions of the
 * servers. The instructions of each server are cut after 2 KiB.
 */
export function systemPrompt(system: string | undefined, instructions: readonly ServerInstructions[]): string {
  const labelled = instructions
    .filter(({ text }) => text.trim() !== "")
    .map(({ server, text }) =>
      labelServerText({ kind: "instructions", origin: { server, name: "instructions" }, text: cut(text) }),
    );
  return [...(system ? [system] : []), serverTextRules, ...labelled].join("\n\n");
}

function cut(text: string): string {
  return utf8Bytes(text) <= MAX_INSTRUCTIONS_BYTES ? text : `${cutBytes(text, MAX_INSTRUCTIONS_BYTES)}…`;
}
