import type { ElicitResult } from "mcparley/client";

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
  readonly origin: InputOrigin;
  /** The reason for the form, in the words of the server. */
  readonly message: string;
  /** The fields, in the order of the schema. */
  readonly fields: readonly FormField[];
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
  | { readonly action: "accept"; readonly content: FormContent }
  | { readonly action: Exclude<ElicitResult["action"], "accept"> };

/** A page that a server asks the user to visit. */
export interface UrlRequest {
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
  readonly action: ElicitResult["action"];
}
