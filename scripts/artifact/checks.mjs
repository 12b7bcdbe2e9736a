// @ts-check

/** Prints the result of each check, and remembers how many passed and which could not be run. */
export class Checks {
  passed = 0;
  /** @type {string[]} */
  notRun = [];

  /** Throws if the check failed. @param {string} what @param {boolean} ok @param {string} [found] */
  check(what, ok, found = "") {
    if (!ok) throw new Error(`failed: ${what}${found === "" ? "." : `: ${found}`}`);
    this.passed++;
    process.stdout.write(`ok       ${what}\n`);
  }

  /** Records a check that needs something that cannot be had here. @param {string} what @param {string} why */
  skip(what, why) {
    this.notRun.push(what);
    process.stdout.write(`not run  ${what}: ${why}\n`);
  }
}
