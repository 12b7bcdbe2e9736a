import type { JsonObject } from "mcparley";
import type { CallActivity } from "../activity/active-calls.ts";
import type { ToolOutcome, Message } from "../conversation/messages.ts";

/** The context of a conversation: its messages, attached resources and expanded prompts. */
export interface Conversation {
  /** The messages so far, with the attachments. Pass them to `host.run`, or pass the conversation itself. */
  readonly messages: readonly Message[];
  /** The attached resources. */
  readonly attachments: readonly Attachment[];
  /** Adds a message of the user. */
  user(this: void, text: string): void;
  /** Adds messages. */
  add(this: void, ...messages: readonly Message[]): void;
  /** Replaces all messages, for example by the `messages` of a `RunEnd`. The attachments remain. */
  replace(this: void, messages: readonly Message[]): void;
  /** Reads a resource, adds its content, and follows its updates. Rejects if the resource is attached already. */
  attach(this: void, resource: ResourceName, options?: ContextOptions): Promise<Attachment>;
  /** Expands a resource template of the catalogue (RFC 6570), and attaches the resource. */
  attachTemplate(this: void, template: TemplateInstance, options?: ContextOptions): Promise<Attachment>;
  /** Ends the updates of an attached resource. Its messages remain. Returns whether it was attached. */
  detach(this: void, resource: ResourceName): Promise<boolean>;
  /**
   * Reads the attached resources that have changed, and adds the new contents as messages. Earlier messages are not changed, so that
   * prompt caches stay valid. A resource that cannot be read stays stale, and its `error` is set. `host.run({ conversation })` calls it.
   */
  refresh(this: void, options?: ContextOptions): Promise<readonly Attachment[]>;
  /** Expands a prompt of the catalogue by its name `server:prompt`, and adds its messages. Returns them. */
  prompt(
    this: void,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: ContextOptions,
  ): Promise<readonly Message[]>;
  /**
   * Calls a tool of the catalogue by its name for the model, at the request of the user and not of the model. Consent is required as for
   * `host.callTool`; the approval has the origin `user`.
   *
   * The result of the server, also an error that the tool returned, is added as a message of the user: the name of the tool, the arguments,
   * and the labelled texts and files that a model would receive. A call that was denied or failed adds no message. Rejects if the catalogue
   * does not have the tool, and if the signal is aborted.
   *
   * @example
   * ```ts
   * import type { Host } from "@mcparley/host";
   *
   * export async function callForUser(host: Host): Promise<void> {
   *   const conversation = host.conversation();
   *   const { outcome } = await conversation.callTool("wiki__search_pages", { query: "backup" });
   *   if (outcome.status !== "result") console.error(outcome.message);
   *   conversation.user("Which of these pages describes the restore?");
   *   await host.run({ conversation }).finished;
   * }
   * ```
   */
  callTool(this: void, name: string, args: JsonObject, options?: ContextCallOptions): Promise<UserCall>;
  /** Returns values for an argument of a prompt or a variable of a template. */
  completeArgument(this: void, request: CompletionRequest, options?: ContextOptions): Promise<Completion>;
  /** Returns the conversation as JSON, to restore it later. */
  toJSON(this: void): ConversationJson;
  /** Ends the updates of all attached resources. */
  close(this: void): Promise<void>;
}

/** Options of the methods that send requests. */
export interface ContextOptions {
  /** Cancels the requests. */
  readonly signal?: AbortSignal;
}

/** Options of `callTool` of a conversation. */
export interface ContextCallOptions extends ContextOptions {
  /** Called with each event of the call, such as progress. */
  readonly onActivity?: (activity: CallActivity) => void;
}

/** A call that the user made. */
export interface UserCall {
  /** The outcome, as `host.callTool` returns it. */
  readonly outcome: ToolOutcome;
  /** The message that was added to the conversation. Undefined if the call was denied or failed. */
  readonly message: Message | undefined;
}

/** A resource of a server. */
export interface ResourceName {
  /** The name of the server in the host. */
  readonly server: string;
  /** The URI of the resource at the server. */
  readonly uri: string;
}

/** A template of a server, with the values of its variables. */
export interface TemplateInstance {
  /** The name of the server in the host. */
  readonly server: string;
  /** The template, as the catalogue has it. */
  readonly uriTemplate: string;
  /** The values by the names of the variables. */
  readonly variables: Readonly<Record<string, string | readonly string[]>>;
}

/** An attached resource. */
export interface Attachment extends ResourceName {
  /** Whether the resource has changed since it was read. */
  readonly isStale: boolean;
  /** Whether the server notifies of updates. */
  readonly isFollowed: boolean;
  /** The reason why the last read failed. */
  readonly error: Error | undefined;
}

/** A request for values of an argument, as the user types it. */
export interface CompletionRequest {
  /** The name of a prompt of the catalogue, or a template of a server. */
  readonly of: string | { readonly server: string; readonly uriTemplate: string };
  /** The name of the argument, and the text that the user has typed. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The arguments that are known already. */
  readonly context?: Readonly<Record<string, string>>;
}

/** Values for an argument: at most 100. */
export interface Completion {
  /** The values. */
  readonly values: readonly string[];
  /** Whether the server has more values. */
  readonly hasMore: boolean;
}

/** A conversation as JSON. It contains no approval and no long result. */
export interface ConversationJson {
  readonly version: 1;
  /** The messages of the conversation. */
  readonly messages: readonly Message[];
  /** The attached resources. */
  readonly attachments: readonly StoredAttachment[];
}

/** An attached resource as JSON. */
export interface StoredAttachment extends ResourceName {
  /** SHA-256 of the content that was read last. */
  readonly contentHash: string | undefined;
}
