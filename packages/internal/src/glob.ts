/**
 * Returns whether a pattern matches a whole text. `*` stands for any characters, also none, and all others stand for themselves.
 *
 * The parts between the wildcards are searched from left to right, each at its first position. Without other wildcards a later
 * position cannot match more, so nothing is searched twice.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = "", ...otherParts] = pattern.split("*");
  const last = otherParts.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let position = first.length;
  for (const part of otherParts) {
    const partIndex = text.indexOf(part, position);
    if (partIndex === -1) return false;
    position = partIndex + part.length;
  }
  return position <= end;
}
