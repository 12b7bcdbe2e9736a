/** The skills extension: servers offer skills, and hosts verify and load them. Stage of the extension on 2026-11-26: Beta. */
export type { Client } from "./client/client.ts";
export type { LoadedSkill, SkillContent } from "./extensions/skills/client/loaded-skill.ts";
export {
  type OfferedSkill,
  type SkillLimits,
  type SkillRefusal,
  SkillRefused,
} from "./extensions/skills/client/offered-skill.ts";
export {
  type SkillApprovalRequest,
  type SkillApprovals,
  type ApproveSkill,
  type SkillHost,
  type SkillHostOptions,
  skillsOf,
} from "./extensions/skills/client/skills-of.ts";
export { FrontMatterError } from "./extensions/skills/front-matter/yaml.ts";
export { type FrontMatter, readFrontMatter } from "./extensions/skills/front-matter/front-matter.ts";
export { type Skill, type SkillFile, type StoredFile, skill } from "./extensions/skills/server/skill.ts";
export { type Skills, type SkillsOptions, skills } from "./extensions/skills/server/skills.ts";
export type { SkillEntry, SkillFrontMatter, SkillResource } from "./extensions/skills/skill-entry.ts";
