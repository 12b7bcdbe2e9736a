import type { Requirement } from "../requirement.ts";

export const caching: readonly Requirement[] = [];
