/** What is wrong with the front matter of a `SKILL.md`, and on which of its lines. */
export class FrontMatterError extends Error {
  override readonly name: string = "FrontMatterError";
  /** What is wrong, without the place. */
  readonly reason: string;
  /** What to do about it; empty where the reason says it already. */
  readonly cure: string;
  /** From 1, in the whole file. */
  readonly line: number;

  constructor(reason: string, line: number, cure = "") {
    super(`line ${line}: ${reason}.${cure === "" ? "" : ` ${cure}`}`);
    this.reason = reason;
    this.line = line;
    this.cure = cure;
  }
}
