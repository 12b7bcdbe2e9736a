import type { Requirement } from "../requirement.ts";

export const transportsStdio: readonly Requirement[] = [];
