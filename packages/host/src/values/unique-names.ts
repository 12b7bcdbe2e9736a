/**
 * Returns a function that returns a name which it has not returned before: the given one, or `base` with a number.
 *
 * The next number of each base is stored. Servers and models choose the names, and a search from 2 for each of 10,000 equal names
 * would take minutes.
 */
export function uniqueNames(taken: Iterable<string> = []): (name: string, base?: string) => string {
  const used = new Set(taken);
  const numbers = new Map<string, number>();
  return (name, base = name) => {
    let unique = name;
    for (let number = numbers.get(base) ?? 2; used.has(unique); number += 1) {
      unique = `${base}_${number}`;
      numbers.set(base, number + 1);
    }
    used.add(unique);
    return unique;
  };
}
