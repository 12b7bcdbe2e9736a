/** Says which scopes a scope implies, such as `files:read` for `files:write`; not itself. */
export type ScopeHierarchy = (scope: string) => readonly string[];

/** The scopes that were granted and all that they imply, however many steps away. */
export function withImplied(granted: readonly string[], hierarchy: ScopeHierarchy): readonly string[] {
  const all = new Set(granted);
  // What is added while a set is gone through is gone through as well.
  for (const scope of all) for (const implied of hierarchy(scope)) all.add(implied);
  return [...all];
}
