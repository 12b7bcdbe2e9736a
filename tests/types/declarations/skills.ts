import { FrontMatterError, SkillRefused, readFrontMatter, skill, skills, skillsOf } from "mcparley/skills";

export const one = (...given: Parameters<typeof skill>) => skill(...given);
export const offered = (...given: Parameters<typeof skills>) => skills(...given);
export const host = (...given: Parameters<typeof skillsOf>) => skillsOf(...given);
export const frontMatter = (...given: Parameters<typeof readFrontMatter>) => readFrontMatter(...given);
export const isRefused = (error: unknown) => (error instanceof SkillRefused ? error : undefined);
export const isMalformed = (error: unknown) => (error instanceof FrontMatterError ? error : undefined);
