import type { Requirement } from "../requirement.ts";

export const subscriptions: readonly Requirement[] = [];
