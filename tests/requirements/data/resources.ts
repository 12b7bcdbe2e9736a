import type { Requirement } from "../requirement.ts";

export const resources: readonly Requirement[] = [];
