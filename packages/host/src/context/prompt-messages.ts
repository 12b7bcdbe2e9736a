import { type GetPromptResult, type PromptMessage, readPromptMessages } from "mcparley/client";
import type { CataloguePrompt } from "../catalogue/catalogue.ts";
import type { Message, TextPart } from "../conversation/messages.ts";
import { type TextLimits, serverTextParts } from "../conversation/long-text.ts";
import { readBlocks } from "../conversation/server-content.ts";
import { isObject } from "@mcparley/internal/is-object";

const MAX_MESSAGES = 200;

/** Returns the arguments of a prompt that have a name. The entries of the list can have any type. */
export function argumentsOf(prompt: CataloguePrompt["prompt"]): { name: string; isRequired: boolean }[] {
  const listed: readonly unknown[] = prompt.arguments ?? [];
  return listed.flatMap((argument) =>
    isObject(argument) && typeof argument.name === "string"
      ? [{ name: argument.name, isRequired: argument.required === true }]
      : [],
  );
}

/** Checks the arguments of a prompt. Throws a `TypeError` that names the missing and unknown ones. */
export function checkPromptArguments({ name, prompt }: CataloguePrompt, args: Readonly<Record<string, string>>): void {
  const argNames = Object.keys(args);
  const known = argumentsOf(prompt);
  const missing = known.filter((argument) => argument.isRequired && !argNames.includes(argument.name));
  if (missing.length > 0) {
    throw new TypeError(
      `The prompt "${name}" requires the arguments ${missing.map((argument) => argument.name).join(", ")}.`,
    );
  }
  const names = new Set(known.map((argument) => argument.name));
  const unknown = argNames.filter((argument) => !names.has(argument));
  if (unknown.length > 0) {
    const all = names.size === 0 ? "It has no arguments." : `It has: ${[...names].join(", ")}.`;
    throw new TypeError(`The prompt "${name}" has no arguments ${unknown.join(", ")}. ${all}`);
  }
}

/**
 * Returns the messages of an expanded prompt for a conversation, labelled with their origin. The roles are kept. A role other than
 * `assistant` becomes `user`, so that a server cannot write a system message.
 */
export function promptMessages(prompt: CataloguePrompt, result: GetPromptResult, limits: TextLimits): Message[] {
  const messages = readPromptMessages(result.messages);
  if (messages.length > MAX_MESSAGES) {
    throw new RangeError(
      `The prompt "${prompt.name}" has ${messages.length} messages. A prompt may have ${MAX_MESSAGES}.`,
    );
  }
  return messages.map((message) => promptMessage(prompt, message, limits));
}

function promptMessage(
  { server, prompt }: CataloguePrompt,
  { role, content }: PromptMessage,
  limits: TextLimits,
): Message {
  const { text, files } = readBlocks([content]);
  // The user chose the prompt, but not the content of a resource in it.
  const isResource = content.type === "resource";
  const kind = isResource ? "resource" : "prompt";
  const origin = { server, name: isResource ? content.resource.uri : prompt.name };
  const texts = text === "" ? [] : serverTextParts({ kind, origin, text }, limits);
  if (role !== "assistant") return { role: "user", content: [...texts, ...files] };
  // Model providers accept no files in messages of the model.
  const remarks = files.map(({ mediaType }): TextPart => ({
    type: "text",
    text: `[A file of type ${mediaType} was left out.]`,
  }));
  return { role: "assistant", content: [...texts, ...remarks] };
}
