import { type CompleteResult, type CompletionReference, type JsonObject, printableJson } from "mcparley";
import { type GetPromptResult, type PromptMessage, readPromptMessages } from "mcparley/client";
import { isObject } from "@mcparley/internal/is-object";
import type { Catalogue, CataloguePrompt, CatalogueTool } from "../catalogue/catalogue.ts";
import type { Message, ToolOutcome, TextPart } from "../conversation/messages.ts";
import { type TextLimits, type ResultStore, serverTextParts, escapeTags } from "../conversation/server-text.ts";
import { type AttachmentParts, Attachments } from "./attachments.ts";
import type {
  Completion,
  CompletionRequest,
  ContextCallOptions,
  ContextOptions,
  Conversation,
} from "./conversation-context.ts";
import type { SecretFilter } from "../values/types.ts";
import { wellFormed } from "../values/map-texts.ts";
import { readConversationJson } from "./conversation-json.ts";
import { expandTemplate, templateVariables } from "./uri-template.ts";
import { readBlocks, toResultPart } from "../conversation/tool-results.ts";

/** The parts of a host that a conversation needs. */
export interface ConversationParts extends Pick<AttachmentParts, "readResource" | "watch"> {
  readonly catalogue: () => Catalogue;
  /** Expands a prompt by its name `server:prompt`. */
  readonly getPrompt: (
    name: string,
    args: Readonly<Record<string, string>>,
    options: ContextOptions,
  ) => Promise<GetPromptResult>;
  /** Calls a tool for the user, with consent. Rejects if the signal is aborted. */
  readonly callTool: (
    call: { tool: CatalogueTool; arguments: JsonObject },
    options: ContextCallOptions,
  ) => Promise<ToolOutcome>;
  /** Sends `completion/complete` to a server. */
  readonly complete: (request: ServerCompletion, options: ContextOptions) => Promise<CompleteResult["completion"]>;
  readonly results: ResultStore;
  /** Applied to the conversation that is stored. */
  readonly secrets: Pick<SecretFilter, "messageWithoutSecrets"> & {
    readonly uriWithoutSecrets: (uri: string, server: string) => string;
  };
  /** Called when the conversation is closed. */
  readonly onClosed?: () => void;
  /** Maximum bytes of a text of a server. A longer one becomes a handle. Default: 32 KiB. */
  readonly maxTextBytes?: number;
}

/** A completion request for one server. */
export interface ServerCompletion {
  readonly server: string;
  readonly ref: CompletionReference;
  readonly argument: { readonly name: string; readonly value: string };
  readonly context: Readonly<Record<string, string>> | undefined;
}

/** Returns an empty conversation, or the one that `toJSON` stored. Throws a `TypeError` if the stored one is invalid. */
export function createConversation(parts: ConversationParts, storedConversation?: unknown): Conversation {
  const json = storedConversation === undefined ? undefined : readConversationJson(storedConversation);
  const limits: TextLimits = { maxBytes: parts.maxTextBytes ?? 32 * 1024, store: parts.results };
  let messages: readonly Message[] = json?.messages ?? [];
  const add = (...newMessages: readonly Message[]): void => void (messages = [...messages, ...newMessages]);
  const attachments = new Attachments(
    { readResource: parts.readResource, watch: parts.watch, limits, addMessage: add },
    json?.attachments ?? [],
  );

  return {
    get messages() {
      return messages;
    },
    get attachments() {
      return attachments.list();
    },
    user: (text) => add({ role: "user", content: text }),
    add,
    replace: (replacement) => void (messages = [...replacement]),
    attach: (resource, options = {}) => attachments.attach(resource, options),
    // An async function, so that an invalid template is a rejection.
    attachTemplate: async ({ server, uriTemplate, variables }, options = {}) => {
      checkTemplate(parts.catalogue(), { server, uriTemplate });
      return attachments.attach({ server, uri: expandTemplate(uriTemplate, variables) }, options);
    },
    detach: (resource) => attachments.detach(resource),
    refresh: (options = {}) => attachments.refresh(options),
    async prompt(name, args = {}, options = {}) {
      const prompt = promptNamed(parts.catalogue(), name);
      checkPromptArguments(prompt, args);
      const promptParts = promptMessages(prompt, await parts.getPrompt(name, args, options), limits);
      add(...promptParts);
      return promptParts;
    },
    async callTool(name, args, options = {}) {
      const call = { tool: toolNamed(parts.catalogue(), name), arguments: args };
      const outcome = await parts.callTool(call, options);
      const message = userCallMessage(call, outcome, limits);
      if (message) add(message);
      return { outcome, message };
    },
    completeArgument: (request, options = {}) => completeArgument(parts, request, options),
    toJSON: () => ({
      version: 1,
      messages: wellFormed(messages).map(parts.secrets.messageWithoutSecrets),
      // The names and URIs of resources are used again after the conversation is restored.
      attachments: attachments.toJSON().map(({ server, uri, contentHash }) => {
        return { server, uri: parts.secrets.uriWithoutSecrets(uri.toWellFormed(), server), contentHash };
      }),
    }),
    async close() {
      await attachments.close();
      parts.onClosed?.();
    },
  };
}

function checkTemplate(catalogue: Catalogue, { server, uriTemplate }: { server: string; uriTemplate: string }): void {
  const isKnown = catalogue.templates.some(
    (entry) => entry.server === server && entry.template.uriTemplate === uriTemplate,
  );
  if (!isKnown) throw new Error(`The server "${server}" has no resource template "${uriTemplate}".`);
}

function promptNamed(catalogue: Catalogue, name: string): CataloguePrompt {
  const prompt = catalogue.prompt(name);
  if (!prompt) throw new Error(`The prompt "${name}" does not exist. Names have the form "server:prompt".`);
  return prompt;
}

function toolNamed(catalogue: Catalogue, name: string): CatalogueTool {
  const tool = catalogue.tool(name);
  if (!tool) throw new Error(`The tool "${name}" does not exist. \`host.catalogue\` lists the tools.`);
  return tool;
}

const MAX_VALUES = 100;
const MAX_VALUE_LENGTH = 2000;

/** Requests values for an argument. Values that are too long are left out, because a part of a value would be wrong. */
async function completeArgument(
  parts: ConversationParts,
  { of, argument, context }: CompletionRequest,
  options: ContextOptions,
): Promise<Completion> {
  const { server, ref, names } = completionTarget(parts.catalogue(), of);
  if (!names.has(argument.name)) {
    throw new TypeError(`There is no argument "${argument.name}". The arguments are: ${[...names].join(", ")}.`);
  }
  const { values, hasMore } = await parts.complete({ server, ref, argument, context }, options);
  const usable = values.filter((value) => value.length <= MAX_VALUE_LENGTH);
  return { values: usable.slice(0, MAX_VALUES), hasMore: hasMore === true || usable.length > MAX_VALUES };
}

interface CompletionTarget {
  readonly server: string;
  readonly ref: CompletionReference;
  readonly names: ReadonlySet<string>;
}

function completionTarget(catalogue: Catalogue, target: CompletionRequest["of"]): CompletionTarget {
  if (typeof target === "string") {
    const { server, prompt } = promptNamed(catalogue, target);
    const names = new Set(argumentsOf(prompt).map(({ name }) => name));
    return { server, ref: { type: "ref/prompt", name: prompt.name }, names };
  }
  checkTemplate(catalogue, target);
  return {
    server: target.server,
    ref: { type: "ref/resource", uri: target.uriTemplate },
    names: new Set(templateVariables(target.uriTemplate).map(({ name }) => name)),
  };
}

const MAX_MESSAGES = 200;

/** Returns the arguments of a prompt that have a name. The entries of the list can have any type. */
function argumentsOf(prompt: CataloguePrompt["prompt"]): { name: string; isRequired: boolean }[] {
  const entries: readonly unknown[] = prompt.arguments ?? [];
  return entries.flatMap((argument) =>
    isObject(argument) && typeof argument.name === "string"
      ? [{ name: argument.name, isRequired: argument.required === true }]
      : [],
  );
}

/** Checks the arguments of a prompt. Throws a `TypeError` that names the missing and unknown ones. */
function checkPromptArguments({ name, prompt }: CataloguePrompt, args: Readonly<Record<string, string>>): void {
  const argNames = Object.keys(args);
  const promptArguments = argumentsOf(prompt);
  const missing = promptArguments.filter((argument) => argument.isRequired && !argNames.includes(argument.name));
  if (missing.length > 0) {
    throw new TypeError(
      `The prompt "${name}" requires the arguments ${missing.map((argument) => argument.name).join(", ")}.`,
    );
  }
  const names = new Set(promptArguments.map((argument) => argument.name));
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
function promptMessages(prompt: CataloguePrompt, result: GetPromptResult, limits: TextLimits): Message[] {
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

/**
 * Returns the message about a call that the user made: a sentence with the tool and the arguments that were sent, and then the content
 * that a model would receive as the result. Returns undefined if the call has no result of the server.
 */
function userCallMessage(
  { tool: { name, server, tool }, arguments: args }: { tool: CatalogueTool; arguments: JsonObject },
  outcome: ToolOutcome,
  limits: TextLimits,
): Message | undefined {
  if (outcome.status !== "result") return undefined;
  // A message of the user has no call id.
  const { content, isError } = toResultPart({ callId: "", name, origin: { server, name: tool.name } }, outcome, limits);
  // The arguments can contain text that the user copied from a server.
  const json = escapeTags(printableJson(outcome.editedArguments ?? args));
  const result = isError ? "The tool returned this error:" : "The result is:";
  const sentence = `The user called the tool ${name} with the arguments ${json}. ${result}`;
  return { role: "user", content: [{ type: "text", text: sentence }, ...content] };
}
