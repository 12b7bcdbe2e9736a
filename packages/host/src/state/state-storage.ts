/** Stores the state of one user's host: rules, trust, pins and cached lists. Names are relative paths, such as `pins.json`. */
export interface StateStorage {
  /** Returns the text under a name, or undefined. */
  read(name: string): Promise<string | undefined>;
  /**
   * Replaces the text under a name by the result of `change`, which receives the current text. No other process changes it in the
   * meantime. `undefined` deletes it.
   */
  update(name: string, change: (before: string | undefined) => string | undefined): Promise<void>;
  /** Resolves when no update is running. Never rejects. */
  settled(): Promise<void>;
}

/** Returns a storage in memory. */
export function memoryState(): StateStorage {
  const texts = new Map<string, string>();
  return {
    read: (name) => Promise.resolve(texts.get(name)),
    update(name, change) {
      const text = change(texts.get(name));
      if (text === undefined) texts.delete(name);
      else texts.set(name, text);
      return Promise.resolve();
    },
    settled: () => Promise.resolve(),
  };
}
