import type { Requirement } from "../requirement.ts";

export const icons: readonly Requirement[] = [];
