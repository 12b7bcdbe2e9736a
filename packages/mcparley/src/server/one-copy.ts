import { LocalError } from "../rpc/errors.ts";

/**
 * Throws if a module that is loaded on first use has a copy of the library of its own. `tsx` does this in a project without
 * `"type": "module"`: it loads static imports as CommonJS, and dynamic ones as ES modules. Classes then exist twice.
 *
 * `Loaded` is the class that the loaded module imports. Throws `LocalError` `invalid_definition`.
 */
export function requireOneCopy(Loaded: unknown): void {
  if (Loaded === LocalError) return;
  const cure = 'Add "type": "module" to your package.json.';
  throw new LocalError("invalid_definition", `mcparley was loaded twice. ${cure}`);
}
