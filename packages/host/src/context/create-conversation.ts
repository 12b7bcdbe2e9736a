import type { CompleteResult, CompletionReference, GetPromptResult, JsonObject } from "mcparley";
import type { Catalogue, CataloguePrompt, CatalogueTool } from "../catalogue/catalogue.ts";
import type { Message } from "../conversation/messages.ts";
import type { TextLimits } from "../conversation/long-text.ts";
import type { ResultStore } from "../conversation/result-handles.ts";
import type { ToolOutcome } from "../conversation/tool-outcome.ts";
import { type AttachmentParts, createAttachments } from "./attachments.ts";
import type {
  Completion,
  CompletionRequest,
  ContextCallOptions,
  ContextOptions,
  Conversation,
} from "./conversation-context.ts";
import type { SecretFilter } from "../values/without-secrets.ts";
import { wellFormed } from "../values/map-texts.ts";
import { readConversationJson } from "./conversation-json.ts";
import { argumentsOf, checkPromptArguments, promptMessages } from "./prompt-messages.ts";
import { expandTemplate, templateVariables } from "./uri-template.ts";
import { userCallMessage } from "./user-call.ts";

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
  readonly secrets: Pick<SecretFilter, "withoutSecrets" | "uriWithoutSecrets">;
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
export function createConversation(parts: ConversationParts, stored?: unknown): Conversation {
  const json = stored === undefined ? undefined : readConversationJson(stored);
  const limits: TextLimits = { maxBytes: parts.maxTextBytes ?? 32 * 1024, store: parts.results };
  let messages: readonly Message[] = json?.messages ?? [];
  const add = (...added: readonly Message[]): void => void (messages = [...messages, ...added]);
  const attachments = createAttachments(
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
    detach: attachments.detach,
    refresh: (options = {}) => attachments.refresh(options),
    async prompt(name, args = {}, options = {}) {
      const prompt = promptNamed(parts.catalogue(), name);
      checkPromptArguments(prompt, args);
      const expanded = promptMessages(prompt, await parts.getPrompt(name, args, options), limits);
      add(...expanded);
      return expanded;
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
      messages: parts.secrets.withoutSecrets(wellFormed(messages)),
      // The names and URIs of resources are used again after the conversation is restored.
      attachments: attachments.toJSON().map(({ server, uri, contentHash }) => {
        return { server, uri: parts.secrets.uriWithoutSecrets(uri.toWellFormed()), contentHash };
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

function completionTarget(catalogue: Catalogue, of: CompletionRequest["of"]): CompletionTarget {
  if (typeof of === "string") {
    const { server, prompt } = promptNamed(catalogue, of);
    const names = new Set(argumentsOf(prompt).map(({ name }) => name));
    return { server, ref: { type: "ref/prompt", name: prompt.name }, names };
  }
  checkTemplate(catalogue, of);
  return {
    server: of.server,
    ref: { type: "ref/resource", uri: of.uriTemplate },
    names: new Set(templateVariables(of.uriTemplate).map(({ name }) => name)),
  };
}
