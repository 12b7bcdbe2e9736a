import type { Requirement } from "../requirement.ts";

export const jsonSchema: readonly Requirement[] = [];
