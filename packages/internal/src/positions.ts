/** A place in a text. Both numbers count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** Returns a function that converts offsets of a text to positions. Each call takes logarithmic time. */
export function positionsIn(text: string): (offset: number) => Position {
  const starts = [0];
  for (let breakIndex = text.indexOf("\n"); breakIndex !== -1; breakIndex = text.indexOf("\n", breakIndex + 1))
    starts.push(breakIndex + 1);
  return (offset) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
