// @ts-check

/**
 * The middle parts of hostile texts, by what they are for a reader: runs of one character that a parser or a pattern looks for, brackets
 * that are never closed, separators, escapes, invisible characters, combining marks and halves of surrogate pairs.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const units = {
  "small letters": "a",
  "capital letters": "A",
  digits: "0",
  "words in camel case": "aB",
  "words and spaces": "a ",
  spaces: " ",
  tabs: "\t",
  "line feeds": "\n",
  "carriage returns": "\r",
  "both line endings": "\r\n",
  "indented lines": "\n  a",
  "line separators": "\u2028",
  hyphens: "-",
  underscores: "_",
  dots: ".",
  labels: "a.",
  commas: ",",
  items: "a, ",
  semicolons: ";",
  colons: ":",
  "equals signs": "=",
  pairs: "a=b&",
  slashes: "/",
  "parent folders": "../",
  backslashes: "\\",
  "double quotes": '"',
  "single quotes": "'",
  "escaped quotes": '\\"',
  "open strings": ',a="',
  backticks: "`",
  "backticks of two lengths": "`a``",
  "open tags": "<",
  "closed tags": "<a>",
  "open scripts": "<script ",
  "end tags without end": "</script ",
  "open labels": "<server-text",
  ampersands: "&",
  entities: "&lt;",
  "percent signs": "%",
  "percent-encoded letters": "%41",
  "percent-encoded bytes": "%C3",
  tildes: "~",
  "at signs": "@",
  mentions: " @a:b",
  "number signs": "#",
  "question marks": "?",
  asterisks: "*",
  "open brackets": "[",
  "open braces": "{",
  "open parentheses": "(",
  "closed braces": "}",
  expressions: "{a}",
  classes: "[a-z]",
  alternatives: "(a|a)*",
  "JSON arrays": "[1],",
  "JSON members": '{"a":',
  "secret names": "token=",
  schemes: "bearer ",
  "user names": "://a@",
  "web tokens": "eyJ.",
  "event fields": "data:\n",
  "error names": "ERR_UNKNOWN_FILE_EXTENSION ",
  "terminal escapes": "\u001B[31m",
  "accented letters": "é",
  "Cyrillic letters": "а",
  "words of two scripts": "aа ",
  ideographs: "漢",
  emoji: "😀",
  "joined emoji": "👩\u200D",
  "combining marks": "\u0301",
  "variation selectors": "\uFE0F",
  "zero-width spaces": "\u200B",
  "direction overrides": "\u202E",
  "tag characters": "\u{E0041}",
  controls: "\u0001",
  "lone surrogates": "\uD800",
  "swapped surrogates": "\uDC00\uD800",
};

/**
 * Returns a text whose middle part repeats, with at least `bytes` bytes of UTF-8. The text is one flat string, as one that was received.
 *
 * @param {{ head?: string, unit: string, tail?: string }} parts
 * @param {number} bytes
 */
export function hostileText({ head = "", unit, tail = "" }, bytes) {
  const text = head + unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit))) + tail;
  const encoding = /[^\0-\u00FF]/.test(head + unit + tail) ? "utf16le" : "latin1";
  return Buffer.from(text, encoding).toString(encoding);
}
