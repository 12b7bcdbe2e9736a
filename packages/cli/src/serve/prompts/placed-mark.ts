import {
  type Context,
  type Emitter,
  type Liquid,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
} from "liquidjs";
import type { Mark } from "./prompt-marks.ts";

/** Collects the marks of one rendering. The rendering receives it as its globals. */
export interface MarkCollector {
  /** Encloses the number of a mark in the output. It is random for each rendering, so no argument can contain it. */
  readonly boundary: string;
  /** The marks with their targets filled in. */
  readonly marks: Mark[];
}

/**
 * The template tag that replaces a mark. Conditions and loops then apply to marks as to text, and placeholders in
 * targets are filled in by the same rules.
 */
export class PlacedMark extends Tag {
  /** A name that does not occur by accident. */
  static readonly tag = "mcparley_mark";

  readonly #mark: Mark;
  readonly #target: Template[];

  /** Returns the tag as template source. Its argument has no character with a meaning in templates. */
  static write(mark: Mark): string {
    return `{% ${PlacedMark.tag} ${Buffer.from(JSON.stringify(mark)).toString("base64url")} %}`;
  }

  constructor(token: TagToken, remainingTokens: TopLevelToken[], liquid: Liquid) {
    super(token, remainingTokens, liquid);
    this.#mark = JSON.parse(Buffer.from(token.args, "base64url").toString("utf8")) as Mark;
    const mark = this.#mark;
    // An error in a target has the line of the file.
    this.#target = mark.kind === "role" ? [] : liquid.parse("\n".repeat(mark.line - 1) + mark.target);
  }

  /** For the analysis of which names a template uses. */
  // oxlint-disable-next-line eslint/require-yield -- the engine wants a generator, and there is nothing to wait for
  *children(): Generator<unknown, Template[]> {
    return this.#target;
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, string> {
    const { boundary, marks } = context.globals as unknown as MarkCollector;
    const mark = this.#mark;
    const target = (yield this.liquid.renderer.renderTemplates(this.#target, context)).trim();
    emitter.write(`${boundary}${marks.length}${boundary}`);
    marks.push(mark.kind === "role" ? mark : { ...mark, target });
  }
}
