/** Returns an object with its members in the order of their names. */
export function withSortedMembers<T>(object: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).toSorted(([first], [second]) => (first < second ? -1 : 1)));
}
