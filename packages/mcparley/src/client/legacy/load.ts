import type * as Legacy from "./index.ts";

/** Loads the code for legacy servers. */
export const loadLegacy = (): Promise<typeof Legacy> => import("./index.ts");
