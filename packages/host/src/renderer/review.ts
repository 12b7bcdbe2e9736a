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
