import type { Requirement } from "../requirement.ts";

export const completion: readonly Requirement[] = [];
