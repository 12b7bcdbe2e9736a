import type { ElicitResult } from "mcparley/client";

/** The server and the call of a request for input. */
export interface InputOrigin {
  readonly server: string;
  /** The server's own name and version. They are not verified. */
  readonly claims: { readonly name: string; readonly version: string } | undefined;
  /** The call that caused the request, such as `tools/call "book"`, if it is known. */
  readonly during: string | undefined;
}

/** A form that a server asks the user to fill in. */
export interface FormRequest {
  readonly origin: InputOrigin;
  readonly message: string;
  readonly fields: readonly FormField[];
  /** Returns the problems of an answer, by field. An answer without problems can be sent. */
  check(this: void, content: FormContent): readonly FieldProblem[];
}

/** One field of a form. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
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

export interface FormOption {
  readonly value: string;
  readonly title: string;
}

export interface FieldProblem {
  /** The field, or undefined for a problem of the whole form. */
  readonly field: string | undefined;
  readonly message: string;
}

/** The values of a form by the names of its fields. */
export type FormContent = Record<string, string | number | boolean | string[]>;

/** The answer to a `FormRequest`. */
export type FormAnswer =
  | { readonly action: "accept"; readonly content: FormContent }
  | { readonly action: Exclude<ElicitResult["action"], "accept"> };

/** A page that a server asks the user to visit. */
export interface UrlRequest {
  readonly origin: InputOrigin;
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
