import type { Requirement } from "../requirement.ts";

export const roots: readonly Requirement[] = [];
