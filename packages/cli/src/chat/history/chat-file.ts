import { wellFormedJson } from "mcparley";
import { UsageError } from "../../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import { storableTargets } from "./storable-targets.ts";

/** A stored conversation. It contains no approval. */
export interface StoredChat {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** The first words of the first message of the user. */
  readonly title: string;
  /** The model, such as `ollama/qwen3`. Undefined if the chat had none. */
  readonly model: string | undefined;
  /** The words of the command line that select the servers again. */
  readonly targets: readonly string[];
  /** The `ConversationJson` of the host, which `host.conversation` validates. */
  readonly conversation: unknown;
}

/** A stored conversation without its messages. */
export type ChatSummary = Omit<StoredChat, "conversation">;

/** The version of the file format. */
const fileVersion = 1;

/** Number of bytes in which the first line of a file must end. A longer one is only read with the whole file. */
export const headBytes: number = 64 * 1024;

/**
 * Returns the text of a file. The file is one JSON object, and everything except the conversation is on its first line, so that a list
 * does not read the conversations.
 */
export function encodeChat({ conversation, ...summary }: StoredChat): string {
  const head = wellFormedJson({ version: fileVersion, ...summary });
  return `${head.slice(0, -1)},\n"conversation":${wellFormedJson(conversation)}}\n`;
}

/** Returns the summary on the first line of a file, or undefined if the start of the file has no such line. */
export function readHead(start: string): ChatSummary | undefined {
  const [, head] = /^(\{[^\n]*),\n"conversation":/.exec(start) ?? [];
  if (head === undefined) return undefined;
  const outcome = checkSummary(parse(`${head}}`));
  return "problem" in outcome ? undefined : outcome.summary;
}

/** Reads a file. Throws a `UsageError` with the file, the reason and the cure if it is damaged. */
export function decodeChat(text: string, file: string): StoredChat {
  const value = parse(text);
  const outcome = checkSummary(value);
  if ("problem" in outcome) throw damageError(file, outcome.problem);
  if (!isObject(value) || !isObject(value.conversation)) throw damageError(file, "it has no conversation");
  return { ...outcome.summary, conversation: value.conversation };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checkSummary(value: unknown): { summary: ChatSummary } | { problem: string } {
  if (!isObject(value)) return { problem: "it is not a JSON object" };
  const { version, id, createdAt, updatedAt, title, model, targets } = value;
  if (version !== fileVersion)
    return { problem: `it has version ${String(version)}, and this command reads version 1` };
  if (typeof id !== "string") return { problem: '"id" is not a text' };
  if (typeof title !== "string") return { problem: '"title" is not a text' };
  if (model !== undefined && typeof model !== "string") return { problem: '"model" is not a text' };
  if (!isTime(createdAt) || !isTime(updatedAt)) return { problem: '"createdAt" or "updatedAt" is not a time' };
  if (!isTexts(targets)) return { problem: '"targets" is not a list of texts' };
  // The words become part of a command line, so the file must not add options or commands.
  const { targets: storableWords } = storableTargets(targets);
  return { summary: { id, createdAt, updatedAt, title, model, targets: storableWords } };
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

function damageError(file: string, reason: string): UsageError {
  return new UsageError(
    `The stored conversation ${file} cannot be read: ${reason}.`,
    "Repair the file, or delete it to remove the conversation.",
  );
}
