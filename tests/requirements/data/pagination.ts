import type { Requirement } from "../requirement.ts";

export const pagination: readonly Requirement[] = [];
