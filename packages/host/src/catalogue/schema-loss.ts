/** A part of a tool's schema that a model provider does not accept, and that was changed for it. */
export interface SchemaLoss {
  /** The server that offers the tool. */
  readonly server: string;
  /** The name of the tool at its server. */
  readonly tool: string;
  /** JSON pointer of the part in the input schema. */
  readonly path: string;
  /** The keyword, such as `oneOf`. */
  readonly keyword: string;
  /** The change, as a sentence for the author of the tool. */
  readonly change: string;
  /**
   * `looser`: the model may write arguments that the server refuses. `narrower`: some arguments that the server accepts are
   * hidden from the model.
   */
  readonly effect: "looser" | "narrower";
}
