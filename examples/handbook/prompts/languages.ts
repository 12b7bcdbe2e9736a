/** The suggested languages for `code_review`, in order of use. */
const languages = (
  "TypeScript Python Go SQL Shell Rust Java Kotlin JavaScript C C++ C# Swift Ruby PHP Scala Elixir Haskell Terraform " +
  "YAML Dockerfile HTML CSS"
).split(" ");

/** Common abbreviations and the languages they stand for. */
const abbreviations: Record<string, string> = {
  bash: "Shell",
  golang: "Go",
  js: "JavaScript",
  py: "Python",
  ts: "TypeScript",
};

/** Suggests languages for the typed text. If nothing is typed yet, the language of the argument `code` is first. */
export default function complete(typed: string, others: Record<string, string>): string[] {
  const wanted = typed.toLowerCase();
  const matching = languages.filter((language) => language.toLowerCase().startsWith(wanted));
  const expanded = abbreviations[wanted];
  const likely = [expanded, typed === "" ? guess(others.code ?? "") : undefined].filter((name) => name !== undefined);
  return [...new Set([...likely, ...matching])];
}

/** Returns the probable language of the code, or undefined. */
function guess(code: string): string | undefined {
  if (/^\s*(?:def|class) \w+.*:\s*$|^\s*from \w+ import /m.test(code)) return "Python";
  if (/^\s*(?:func \w*|package \w+)/m.test(code)) return "Go";
  if (/\b(?:interface|type) \w+ [={]|: (?:string|number|boolean)\b/.test(code)) return "TypeScript";
  if (/^\s*select\b[\s\S]*\bfrom\b/im.test(code)) return "SQL";
  return code.startsWith("#!") ? "Shell" : undefined;
}
