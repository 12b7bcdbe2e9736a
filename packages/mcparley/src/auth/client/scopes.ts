/** All scopes of the sets, each once, in the order in which they first come. */
export function unite(...sets: (readonly string[] | undefined)[]): string[] {
  return [...new Set(sets.flatMap((set) => set ?? []))];
}

export function includesAll(scopes: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return wanted.every((scope) => scopes?.includes(scope));
}
