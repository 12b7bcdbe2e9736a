import type { Requirement } from "../requirement.ts";

export const security: readonly Requirement[] = [];
