import type { Requirement } from "../requirement.ts";

export const mrtr: readonly Requirement[] = [];
