/** Skills: offering them as a server, and verifying them as a host. */
export type { ApprovalRequest, Approvals, Approve } from "./extensions/skills/client/approval.ts";
export type { LoadedSkill } from "./extensions/skills/client/loaded-skill.ts";
export type { OfferedSkill } from "./extensions/skills/client/offered-skill.ts";
export type { SkillLimits } from "./extensions/skills/client/read-entry.ts";
export type { SkillContent } from "./extensions/skills/client/read-file.ts";
export { type SkillRefusal, SkillRefused } from "./extensions/skills/client/skill-refused.ts";
export { type SkillHost, type SkillHostOptions, skillsOf } from "./extensions/skills/client/skills-of.ts";
export { FrontMatterError } from "./extensions/skills/front-matter/yaml.ts";
export { type FrontMatter, readFrontMatter } from "./extensions/skills/front-matter/front-matter.ts";
export { type Skill, type SkillFile, type StoredFile, skill } from "./extensions/skills/server/skill.ts";
export { type Skills, type SkillsOptions, skills } from "./extensions/skills/server/skills.ts";
export type { SkillEntry, SkillFrontMatter, SkillResource } from "./extensions/skills/skill-entry.ts";
