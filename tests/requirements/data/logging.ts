import type { Requirement } from "../requirement.ts";

export const logging: readonly Requirement[] = [];
