import type { Requirement } from "../requirement.ts";

export const elicitation: readonly Requirement[] = [];
