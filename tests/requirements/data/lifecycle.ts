import type { Requirement } from "../requirement.ts";

export const lifecycle: readonly Requirement[] = [];
