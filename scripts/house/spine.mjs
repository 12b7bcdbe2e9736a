// @ts-check

/**
 * @typedef {{ file: string; name: string; isAsync: boolean }} Frame
 *
 * @typedef {object} Spine
 * @property {{ file: string; calls: string[]; isReentry: boolean }[]} steps the way in order, outermost first
 * @property {number} files distinct files
 * @property {number} calls nested calls
 * @property {number} reentries how often a file is entered again after another file came between
 */

/**
 * Reads the frames of a stack that are in a folder, outermost first.
 *
 * @param {string} stack `error.stack`
 * @param {string} folder as it occurs in the stack, with a slash at its end
 * @returns {Frame[]}
 */
export function readStack(stack, folder) {
  return stack
    .split("\n")
    .flatMap((line) => {
      const at = line.indexOf(folder);
      if (at === -1 || !line.trim().startsWith("at ")) return [];
      const file = fileOf(line.slice(at + folder.length).replace(/:\d+:\d+\)?$/, ""));
      const opened = line.lastIndexOf("(", at);
      const call = opened === -1 ? "" : line.slice(0, opened).trim().replace(/^at /, "");
      const name = call.replace(/^async /, "").replace(/ \[as .*\]$/, "");
      return [{ file, name: name.replace(/^(Object|Function)\./, ""), isAsync: /^\s*at async /.test(line) }];
    })
    .toReversed();
}

/**
 * Returns the source file of a compiled one: `mcparley/src/rpc/clock.js` is `mcparley/rpc/clock.ts`.
 *
 * @param {string} compiled
 */
export function fileOf(compiled) {
  return compiled.replace(/\/src\//, "/").replace(/\.js$/, ".ts");
}

/**
 * Joins the stacks of a way into one list of frames.
 *
 * After an `await`, V8 shows the waiting callers as `at async` frames, and callers that only passed a promise on not at
 * all. The common start of two stacks is matched, and the rest of the later one continues from there.
 * After any other callback, the later stack continues at the end of the earlier one.
 *
 * @param {readonly (readonly Frame[])[]} stacks each outermost first
 * @returns {Frame[]}
 */
export function joinStacks(stacks) {
  /** @type {Frame[]} */
  let joined = [];
  for (const [index, stack] of stacks.entries()) {
    // The waiting callers, and the function that runs again.
    const resumed = stack.findIndex(({ isAsync }) => !isAsync);
    const known = index === 0 ? 0 : Math.min(stack.length, resumed === -1 ? stack.length : resumed + 1);
    let [last, matched] = [-1, 0];
    for (const { file, name } of stack.slice(0, known)) {
      const found = joined.findIndex(
        (frame, at) => at > last && name !== "" && frame.file === file && frame.name === name,
      );
      if (found === -1) break;
      last = found;
      matched++;
    }
    joined = [...(matched > 0 ? joined.slice(0, last + 1) : joined), ...stack.slice(matched)];
  }
  return joined;
}

/**
 * @param {readonly Frame[]} frames outermost first
 * @returns {Spine}
 */
export function spineOf(frames) {
  /** @type {Spine["steps"]} */
  const steps = [];
  const seen = new Set();
  for (const { file, name } of frames) {
    const last = steps.at(-1);
    if (last?.file === file) last.calls.push(name || "(callback)");
    else steps.push({ file, calls: [name || "(callback)"], isReentry: seen.has(file) });
    seen.add(file);
  }
  return {
    steps,
    files: seen.size,
    calls: frames.length,
    reentries: steps.filter(({ isReentry }) => isReentry).length,
  };
}
