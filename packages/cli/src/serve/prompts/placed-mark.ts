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

/** A mark as one rendering met it, its target filled in. */
export type RenderedMark = Mark;

/** Where a rendering collects the marks that it meets; given to it as its globals. */
export interface MarkCollector {
  /** Stands around the number of a mark in the output. It is new for each rendering, so that no argument can hold it. */
  readonly boundary: string;
  readonly marks: RenderedMark[];
}

/**
 * The tag that a mark becomes in a template, so that conditions and loops hold around marks as they do around text,
 * and targets are filled in by the same rules.
 */
export class PlacedMark extends Tag {
  /** A name that nobody writes by accident. */
  static readonly tag = "mcparley_mark";

  readonly #mark: Mark;
  readonly #target: Template[];

  /** The tag as it stands in a template; its argument has no character that means something to a template. */
  static write(mark: Mark): string {
    return `{% ${PlacedMark.tag} ${Buffer.from(JSON.stringify(mark)).toString("base64url")} %}`;
  }

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    this.#mark = JSON.parse(Buffer.from(token.args, "base64url").toString("utf8")) as Mark;
    this.#target = this.#mark.kind === "role" ? [] : parseTarget(this.#mark, liquid);
  }

  /** For the analysis of which names a template uses. */
  // oxlint-disable-next-line eslint/require-yield -- the engine wants a generator, and there is nothing to wait for
  *children(): Generator<unknown, Template[]> {
    return this.#target;
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, string> {
    const { boundary, marks } = context.globals as unknown as MarkCollector;
    const mark = this.#mark;
    const filled = (yield this.liquid.renderer.renderTemplates(this.#target, context)).trim();
    emitter.write(`${boundary}${marks.length}${boundary}`);
    marks.push(mark.kind === "role" ? mark : { ...mark, target: filled });
  }
}

/** Parses a target so that what is wrong in it is found on its line of the file. */
function parseTarget({ target, line }: Exclude<Mark, { kind: "role" }>, liquid: Liquid): Template[] {
  return liquid.parse("\n".repeat(line - 1) + target);
}
