import type { Requirement } from "../requirement.ts";

export const progress: readonly Requirement[] = [];
