import type { Requirement } from "../requirement.ts";

export const versioning: readonly Requirement[] = [];
