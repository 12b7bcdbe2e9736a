import type * as Explanations from "./explanations.ts";

/** Loads the explanations of failed requests. Returns undefined if a browser cannot load them, because the network is down. */
export function loadExplanations(): Promise<typeof Explanations | undefined> {
  return import("./explanations.ts").catch(() => undefined);
}
