/** The suggested languages for `code_review`, the most used ones first. */
const languages = (
  "TypeScript Python Go SQL Shell Rust Java Kotlin JavaScript C C++ C# Swift Ruby PHP Scala Elixir Haskell Terraform " +
  "YAML Dockerfile HTML CSS"
).split(" ");

/** Other names of languages. */
const nicknames: Record<string, string> = {
  bash: "Shell",
  golang: "Go",
  js: "JavaScript",
  py: "Python",
  ts: "TypeScript",
};

/** Suggests languages for the typed text. If the argument `code` is already known, its language is first. */
export default function complete(typed: string, others: Record<string, string>): string[] {
  const wanted = typed.toLowerCase();
  const matching = languages.filter((language) => language.toLowerCase().startsWith(wanted));
  const meant = nicknames[wanted];
  const likely = [meant, typed === "" ? guess(others.code ?? "") : undefined].filter((name) => name !== undefined);
  return [...new Set([...likely, ...matching])];
}

function guess(code: string): string | undefined {
  if (/^\s*(?:def|class) \w+.*:\s*$|^\s*from \w+ import /m.test(code)) return "Python";
  if (/^\s*(?:func \w*|package \w+)/m.test(code)) return "Go";
  if (/\b(?:interface|type) \w+ [={]|: (?:string|number|boolean)\b/.test(code)) return "TypeScript";
  if (/^\s*select\b[\s\S]*\bfrom\b/im.test(code)) return "SQL";
  return code.startsWith("#!") ? "Shell" : undefined;
}
