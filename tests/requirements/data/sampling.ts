import type { Requirement } from "../requirement.ts";

export const sampling: readonly Requirement[] = [];
