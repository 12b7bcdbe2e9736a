import { LocalError } from "mcparley/server";
import type { Loaded } from "./loaded.ts";
import type { Problem } from "./problem.ts";

/** The registry of a live server, as far as it is needed here. */
interface Settable<D> {
  set(name: string, definition: D): void;
  delete(name: string): boolean;
}

interface Held<D> {
  loaded: Loaded<D>;
}

export interface LiveRegistryOptions<D> {
  registry: Settable<D>;
  /**
   * Makes the definition that is registered: it looks up the one of the moment for each call, so that new code behind
   * an unchanged list is taken up without telling clients that the list changed.
   */
  follow?: (definition: D, current: () => D) => D;
  /** Told of each definition that was there before and is another now, or is gone. */
  onChanged?: (before: D) => void;
}

/**
 * Makes what brings one registry of a live server to what was loaded: it adds, replaces and removes only what differs.
 *
 * What the server cannot offer is not offered, and is a problem of its file.
 */
export function liveRegistry<D>({
  registry,
  follow,
  onChanged,
}: LiveRegistryOptions<D>): (next: Loaded<D>[]) => Problem[] {
  const held = new Map<string, Held<D>>();

  function take(loaded: Loaded<D>): void {
    const before = held.get(loaded.name);
    if (before?.loaded.shape === loaded.shape) {
      before.loaded = loaded;
      return;
    }
    const holder: Held<D> = { loaded };
    const current = (): D => holder.loaded.definition;
    registry.set(loaded.name, follow ? follow(loaded.definition, current) : loaded.definition);
    held.set(loaded.name, holder);
    if (before) onChanged?.(before.loaded.definition);
  }

  function drop(name: string): void {
    const before = held.get(name);
    if (!before) return;
    held.delete(name);
    registry.delete(name);
    onChanged?.(before.loaded.definition);
  }

  return (next) => {
    const problems: Problem[] = [];
    const names = new Set(next.map(({ name }) => name));
    for (const name of held.keys()) if (!names.has(name)) drop(name);
    for (const loaded of next) {
      try {
        take(loaded);
      } catch (error) {
        if (!(error instanceof LocalError)) throw error;
        drop(loaded.name);
        const cure = "Correct what is named here; it is read again when it is saved.";
        problems.push({ file: loaded.file, line: 1, message: error.message, cure });
      }
    }
    return problems;
  };
}
