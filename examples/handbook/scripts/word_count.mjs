// Counts the words of the document in the first argument, or of standard input. Prints one JSON object.
import { readFileSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";

const wordsPerMinute = 220;
const [document] = process.argv.slice(2).filter((argument) => argument !== "--");
const text = document === undefined ? readFileSync(0, "utf8") : readDocument(document);
const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu)?.length ?? 0;
const counts = {
  lines: text === "" ? 0 : text.replace(/\n$/, "").split("\n").length,
  words,
  characters: Array.from(text).length,
  minutesToRead: Math.round((words / wordsPerMinute) * 10) / 10,
};
process.stdout.write(`${JSON.stringify(counts)}\n`);

function readDocument(path) {
  const resources = realpathSync(join(import.meta.dirname, "..", "resources"));
  const file = tryRealPath(join(resources, path));
  if (file === undefined || relative(resources, file).split(sep)[0] === "..") {
    process.stderr.write(`Document "${path}" does not exist in resources/.\n`);
    process.exit(1);
  }
  return readFileSync(file, "utf8");
}

function tryRealPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
