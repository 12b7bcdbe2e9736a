import type { Requirement } from "../requirement.ts";

export const cancellation: readonly Requirement[] = [];
