import { LocalError } from "../../../rpc/errors.ts";

/**
 * Why a skill, or a file of it, must not be used.
 *
 * - `unlisted`: the file is none of the skill's
 * - `size`, `digest`: the file is not what the skill's entry says it is
 * - `frontmatter`: `SKILL.md` says something else of the skill than its entry
 * - `dynamic`: nothing is said of the skill's files, and such skills were not allowed
 */
export type SkillRefusal = "unlisted" | "size" | "digest" | "frontmatter" | "dynamic";

/** A skill failed its verification: what was read of it must not reach a model. */
export class SkillRefused extends LocalError {
  override readonly name: string = "SkillRefused";
  readonly reason: SkillRefusal;
  readonly uri: string;

  constructor(reason: SkillRefusal, uri: string, message: string) {
    super("invalid_result", message, { data: { reason, uri } });
    this.reason = reason;
    this.uri = uri;
  }
}
