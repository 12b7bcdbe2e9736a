import type { JsonObject } from "mcparley";
import type { Tool, ElicitResult, CreateMessageParams, CreateMessageResult } from "mcparley/client";
import type { Awaitable } from "../values/types.ts";

/**
 * Asks the user, on a terminal, a page or a window.
 *
 * Each method receives a request and a signal, which is aborted when the answer is no longer needed. Texts of servers in the
 * requests are not escaped: escape them for the medium that shows them, for example with `printable` of `mcparley`. The answer to
 * a missing method is no.
 */
export interface Renderer {
  /** Asks whether a server may be started or connected to. */
  trust?(this: void, request: TrustRequest, signal: AbortSignal): Awaitable<TrustAnswer>;
  /** Asks whether new or changed definitions of a server may be used. */
  review?(this: void, request: ReviewRequest, signal: AbortSignal): Awaitable<ReviewAnswer>;
  /** Asks whether a tool may be called with these arguments, which the user may edit. */
  approve?(this: void, request: ApprovalRequest, signal: AbortSignal): Awaitable<ApprovalAnswer>;
  /** Shows the form of a server, and returns the answer of the user. */
  form?(this: void, request: FormRequest, signal: AbortSignal): Awaitable<FormAnswer>;
  /** Shows the URL that a server asks the user to visit. */
  url?(this: void, request: UrlRequest, signal: AbortSignal): Awaitable<UrlAnswer>;
  /** Asks whether to sign in again for the scopes that a call needs. Without it, such a call fails with the names of the scopes. */
  signIn?(this: void, request: SignInRequest, signal: AbortSignal): Awaitable<SignInAnswer>;
  /** Asks whether the model may be run for a server, before it runs. */
  sample?(this: void, request: SampleRequest, signal: AbortSignal): Awaitable<SampleAnswer>;
  /** Asks whether the answer of the model may be sent to the server. */
  sampled?(this: void, request: SampledRequest, signal: AbortSignal): Awaitable<SampledAnswer>;
}

/** The identity of a server to which trust is bound. */
export interface ServerIdentity {
  /** The kind of the server. */
  readonly kind: "command" | "url" | "in-process";
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /**
   * The path of the executable that the program's name leads to, without symbolic links. Undefined if there is none, and for an entry of
   * a configuration if the `PATH` of the user chooses it.
   */
  readonly executable?: string;
  /** The working directory of the program, as an absolute path. */
  readonly cwd?: string;
  /** The environment variables that the target adds, by name. A value that looks like a secret is replaced by its length. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The URL without user name and password. Values that look like secrets are replaced by `…`. */
  readonly url?: string;
  /** The name of a server in this process. */
  readonly name?: string;
  /** The headers that requests carry, by lowercase name. A value that looks like a secret is replaced by its length. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The configuration file of the entry. Undefined for a target that the program itself has written. */
  readonly file?: string;
  /** The file from which the entry takes variables. */
  readonly envFile?: string;
  /** The variables of the user's environment, and the files, whose values the entry sends to the program or the URL. */
  readonly sends?: readonly string[];
}

/**
 * The entry of a configuration file from which a target comes: the facts as the file has them, without the values of references.
 * `expandTarget` of `@mcparley/config` returns it.
 */
export interface ConfiguredEntry extends Omit<ServerIdentity, "name"> {
  /** SHA-256, as 64 hexadecimal digits, over everything that the entry says. Consent is bound to it. */
  readonly digest: string;
}

/** A question whether a server may be started or connected to. */
export interface TrustRequest {
  /** The name of the server in the host. */
  readonly server: string;
  /** The identity to trust. */
  readonly identity: ServerIdentity;
  /** The identity that was trusted under this name before, if it differs. */
  readonly previous: ServerIdentity | undefined;
  /** Remarks to show, such as confusable characters in the URL. */
  readonly remarks: readonly string[];
}

/** The answer to a `TrustRequest`. */
export interface TrustAnswer {
  /** Whether the server may be started or connected to. */
  readonly action: "trust" | "deny";
}

/** The kind of a definition. The instructions of a server have no name. */
export type DefinitionKind = "tool" | "prompt" | "resource" | "template" | "instructions";

/** A definition that must be reviewed before it is used. */
export interface DefinitionChange {
  /** The kind of the definition. */
  readonly kind: DefinitionKind;
  /** The name, the URI of a resource, or the URI template of a template. Empty for instructions. */
  readonly name: string;
  /** The relation to the definitions that were accepted before. */
  readonly status: "new" | "changed" | "renamed";
  /** The definition that was reviewed before, if it is known. */
  readonly previous?: unknown;
  /** The definition to review. */
  readonly current: unknown;
  /** Each difference by its JSON pointer, with invisible and confusable characters escaped. */
  readonly differences: readonly DefinitionDifference[];
  /** Remarks to show, such as invisible or confusable characters and where they are. */
  readonly remarks: readonly string[];
}

/** A difference between two definitions. The texts are JSON, so that a number differs from a string with the same digits. */
export interface DefinitionDifference {
  /** JSON pointer of the value. Empty for the whole definition. */
  readonly path: string;
  /** The earlier value. Undefined if there was none. */
  readonly before: string | undefined;
  /** The new value. Undefined if it was removed. */
  readonly after: string | undefined;
}

/** A question whether definitions of a server may be used. */
export interface ReviewRequest {
  /** The name of the server in the host. */
  readonly server: string;
  /** The definitions to review. */
  readonly changes: readonly DefinitionChange[];
}

/** The answer to a `ReviewRequest`. */
export interface ReviewAnswer {
  /** The changes that the user accepts, or "all". The others cannot be used. */
  readonly accepted: "all" | readonly DefinitionChange[];
}

/** The origin of a tool call. */
export interface CallOrigin {
  /** The id of the call in its run, or a new one. */
  readonly callId: string;
  /**
   * The requester: the model of a run, the program with `host.callTool`, or the user with `callTool` of a conversation. A renderer can
   * allow a call that the user has just written without another question. Nothing else in the host treats it differently.
   */
  readonly by: "model" | "program" | "user";
}

/** A question whether a tool may be called. */
export interface ApprovalRequest {
  /** The call and its requester. */
  readonly origin: CallOrigin;
  /** The name of the server in the host. */
  readonly server: string;
  /** The definition of the tool, as the server sent it. */
  readonly tool: Tool;
  /** The exact arguments. */
  readonly arguments: JsonObject;
  /** The arguments as JSON with invisible and confusable characters escaped. */
  readonly shown: string;
}

/** The answer to an `ApprovalRequest`. */
export interface ApprovalAnswer {
  /** Whether the tool may be called. */
  readonly action: "allow" | "deny";
  /** The arguments to send, if the user edited them. They are checked against the schema. */
  readonly arguments?: JsonObject;
  /** Whether the answer holds for later calls of the tool with any arguments: of this host, or always. Default: only this call. */
  readonly remember?: "session" | "always";
  /** The reason of a denial, for the model. */
  readonly reason?: string;
}

/** A question whether to sign in again at a server, because a call needs scopes that the user has not granted. */
export interface SignInRequest {
  /** The name of the server in the host. */
  readonly server: string;
  /** The URL of the server. */
  readonly url: string;
  /** The issuer identifier of the authorization server. */
  readonly issuer: string;
  /** The call that needs the scopes, such as `tools/call "book"`, if it is known. */
  readonly during: string | undefined;
  /** The scopes that the call needs and the user has not granted, as the server names them. */
  readonly missingScopes: readonly string[];
  /** All scopes that the sign-in requests. */
  readonly scopes: readonly string[];
}

/** The answer to a `SignInRequest`. After `allow` the `signIn` of the host runs, and the call continues. */
export interface SignInAnswer {
  /** Whether to sign in. */
  readonly action: "allow" | "deny";
}

/** The server and the call of a request for input. */
export interface InputOrigin {
  /** The name of the server in the host. */
  readonly server: string;
  /** The server's own name and version. They are not verified. */
  readonly claims: { readonly name: string; readonly version: string } | undefined;
  /** The call that caused the request, such as `tools/call "book"`, if it is known. */
  readonly during: string | undefined;
}

/** A form that a server asks the user to fill in. */
export interface FormRequest {
  /** The server and the call that caused the request. */
  readonly origin: InputOrigin;
  /** The reason for the form, in the words of the server. */
  readonly message: string;
  /** The fields, in the order of the schema. */
  readonly fields: readonly FormField[];
  /** Remarks to show, such as that a field seems to ask for a password, which a server must not do with a form. */
  readonly remarks: readonly string[];
  /** Returns the problems of an answer, by field. An answer without problems can be sent. */
  check(this: void, content: FormContent): readonly FieldProblem[];
}

/** One field of a form. */
export interface FormField {
  /** The name in the content of the answer. */
  readonly name: string;
  /** The label to show: the title of the schema, or the name. */
  readonly title: string;
  /** An explanation to show. */
  readonly description: string | undefined;
  /** Whether an answer needs a value. */
  readonly isRequired: boolean;
  /** The kind of input, with its limits and its initial value. */
  readonly input:
    | {
        readonly type: "text";
        readonly minLength: number | undefined;
        readonly maxLength: number | undefined;
        readonly pattern: string | undefined;
        readonly format: string | undefined;
        readonly initial: string | undefined;
      }
    | {
        readonly type: "number";
        readonly isInteger: boolean;
        readonly minimum: number | undefined;
        readonly maximum: number | undefined;
        readonly initial: number | undefined;
      }
    | { readonly type: "boolean"; readonly initial: boolean | undefined }
    | { readonly type: "choice"; readonly options: readonly FormOption[]; readonly initial: string | undefined }
    | {
        readonly type: "choices";
        readonly options: readonly FormOption[];
        readonly minItems: number | undefined;
        readonly maxItems: number | undefined;
        readonly initial: readonly string[];
      };
}

/** An option of a choice. */
export interface FormOption {
  /** The value to send. */
  readonly value: string;
  /** The text to show. */
  readonly title: string;
}

/** A reason why an answer cannot be sent. */
export interface FieldProblem {
  /** The field, or undefined for a problem of the whole form. */
  readonly field: string | undefined;
  /** The reason, to show beside the field. */
  readonly message: string;
}

/**
 * The values of a form by the names of its fields. The server chooses the names, also `__proto__`: make the object with
 * `Object.fromEntries`, which treats each name alike.
 */
export type FormContent = Record<string, string | number | boolean | string[]>;

/** The answer to a `FormRequest`. */
export type FormAnswer =
  | {
      /** The decision of the user. */
      readonly action: "accept";
      /** The values of the form. */
      readonly content: FormContent;
    }
  | {
      /** The decision of the user. */
      readonly action: Exclude<ElicitResult["action"], "accept">;
    };

/** A page that a server asks the user to visit. */
export interface UrlRequest {
  /** The server and the call that caused the request. */
  readonly origin: InputOrigin;
  /** The reason for the visit, in the words of the server. */
  readonly message: string;
  /** The whole URL, with invisible and confusable characters of its host as Punycode. */
  readonly url: string;
  /** The host of the URL, to show in full and emphasized. */
  readonly host: string;
  /** Remarks to show, such as a host that looks like another one. */
  readonly remarks: readonly string[];
}

/** The answer to a `UrlRequest`. After `accept` the renderer opens the page. */
export interface UrlAnswer {
  /** The decision of the user. */
  readonly action: ElicitResult["action"];
}

/** A request of a server to run the model, before it runs. */
export interface SampleRequest {
  /** The server and the call that caused the request. */
  readonly origin: InputOrigin;
  /** The request as it will be sent to the model, with the limits applied. */
  readonly request: CreateMessageParams;
  /** The model that was chosen by the hints. */
  readonly model: string;
  /** The servers whose context is included, by `includeContext`. */
  readonly contextOf: readonly string[];
  /** Tokens that remain for this server. */
  readonly tokensLeft: number;
}

/** The answer to a `SampleRequest`. */
export interface SampleAnswer {
  /** Whether the model may be run. */
  readonly action: "allow" | "deny";
  /** The request to send instead, if the user edited it. */
  readonly request?: CreateMessageParams;
}

/** The answer of the model, before it is sent to the server. */
export interface SampledRequest {
  /** The server and the call that caused the request. */
  readonly origin: InputOrigin;
  /** The request as it was sent to the model. */
  readonly request: CreateMessageParams;
  /** The answer that the server would receive. */
  readonly result: CreateMessageResult;
}

/** The answer to a `SampledRequest`. */
export interface SampledAnswer {
  /** Whether the answer may be sent to the server. */
  readonly action: "allow" | "deny";
  /** The result to send instead, if the user edited it. */
  readonly result?: CreateMessageResult;
}
