import type { Answer } from "./dispatch/middleware.ts";
import type { Entry } from "./registry.ts";

/**
 * What a kind of definition needs to be offered: how an entry is prepared, and what answers its methods.
 *
 * Each definition brings its feature along, so that a server of tools alone is bundled without the code for resources.
 */
export interface Feature<D = any, E extends Entry<D> = any> {
  prepare(this: void, entry: Entry<D>): E;
  readonly methods: Readonly<Record<string, Answer>>;
}
