// @ts-check

/**
 * Returns the circles of a graph: the largest sets of nodes that all reach each other, the largest first.
 *
 * @param {ReadonlyMap<string, readonly string[]>} graph
 * @returns {string[][]}
 */
export function circlesOf(graph) {
  /** @type {Map<string, number>} */
  const low = new Map();
  /** @type {string[]} */
  const open = [];
  /** @type {string[][]} */
  const circles = [];
  /** @param {string} node @returns {number} */
  const visit = (node) => {
    const known = low.get(node);
    if (known !== undefined) return known;
    const index = low.size;
    low.set(node, index);
    const start = open.push(node) - 1;
    const lowest = Math.min(index, ...(graph.get(node) ?? []).filter((next) => graph.has(next)).map(visit));
    low.set(node, lowest);
    if (lowest < index) return lowest;
    const circle = open.splice(start).toSorted();
    for (const closed of circle) low.set(closed, Infinity);
    if (circle.length > 1) circles.push(circle);
    return Infinity;
  };
  for (const node of graph.keys()) visit(node);
  return circles.toSorted((one, other) => other.length - one.length);
}

/**
 * Returns the circles of files that import each other by some kinds of imports. By default all kinds count.
 *
 * @param {readonly import("./syntax.mjs").Source[]} sources
 * @param {readonly import("./syntax.mjs").Import["kind"][]} kinds
 */
export function circlesOfFiles(sources, kinds = ["static", "type", "lazy"]) {
  const importsOf = (/** @type {import("./syntax.mjs").Source} */ { imports }) =>
    imports.filter(({ kind }) => kinds.includes(kind)).map(({ from }) => from);
  return circlesOf(new Map(sources.map((source) => [source.name, importsOf(source)])));
}
