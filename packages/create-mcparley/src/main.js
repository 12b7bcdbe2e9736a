#!/usr/bin/env node
// @ts-check
import { pathToFileURL } from "node:url";
import { realpathSync } from "node:fs";
import { CreateError, createProject } from "./create.js";
import { ask } from "./ask.js";
import { help, nextSteps, readArguments } from "./arguments.js";

/**
 * Runs the command. Returns the exit code: 0 if the project was written or help was printed, and 1 if not.
 *
 * @param {readonly string[]} words
 * @param {{ print: (text: string) => void; printError: (text: string) => void; isTerminal: boolean }} io
 */
export async function run(words, { print, printError, isTerminal }) {
  try {
    const given = readArguments(words);
    if (given.help) {
      print(help);
      return 0;
    }
    if (given.ask && !isTerminal) throw new CreateError("--ask needs a terminal. Use the options instead.");
    const wanted = given.ask ? await ask(given) : given;
    const project = createProject(wanted);
    print(nextSteps(project, process.cwd()));
    return 0;
  } catch (error) {
    if (!(error instanceof CreateError)) throw error;
    printError(`create-mcparley: ${error.message}\n`);
    return 1;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  process.exitCode = await run(process.argv.slice(2), {
    print: (text) => void process.stdout.write(text),
    printError: (text) => void process.stderr.write(text),
    isTerminal: process.stdin.isTTY && process.stdout.isTTY,
  });
}
