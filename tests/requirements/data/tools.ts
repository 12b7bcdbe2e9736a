import type { Requirement } from "../requirement.ts";

export const tools: readonly Requirement[] = [];
