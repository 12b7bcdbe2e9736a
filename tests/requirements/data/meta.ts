import type { Requirement } from "../requirement.ts";

export const meta: readonly Requirement[] = [];
