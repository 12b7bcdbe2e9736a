import type { Requirement } from "../requirement.ts";

export const prompts: readonly Requirement[] = [];
