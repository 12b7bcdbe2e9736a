import type { Requirement } from "../requirement.ts";

export const transportsHttp: readonly Requirement[] = [];
