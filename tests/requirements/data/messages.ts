import type { Requirement } from "../requirement.ts";

export const messages: readonly Requirement[] = [];
