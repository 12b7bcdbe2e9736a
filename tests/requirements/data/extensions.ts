import type { Requirement } from "../requirement.ts";

export const extensions: readonly Requirement[] = [];
