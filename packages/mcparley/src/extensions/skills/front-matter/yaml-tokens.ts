import type { CST } from "yaml";

/** Throws a `FrontMatterError` for the line that contains the offset. */
export type Fail = (offset: number, reason: string, cure?: string) => never;

/** Maximum depth of collections below the outermost mapping. It bounds the recursion here and in the library. */
const maxDepth = 16;

const quoteIt = "Put it in quotes.";
const oneMapping = "Write one mapping of keys to values.";

interface Place {
  /** The whole YAML. */
  readonly yaml: string;
  /** Number of collections around the token. */
  readonly depth: number;
  /** Whether the token is in brackets. */
  readonly inFlow: boolean;
  readonly fail: Fail;
}

/**
 * Refuses YAML that some readers understand differently or do not support, with the line of the first such token.
 *
 * The tokens are checked and not the values, because tabs, comments and line ends leave no trace in values, and before
 * the library makes the values, because it recurses into nested collections.
 */
export function checkTokens(yaml: string, tokens: readonly CST.Token[], fail: Fail): void {
  const invalid = /[^\t\n\x20-\x7e\x80-\ud7ff\ud800-\ufefe\uff00-\ufffd]/.exec(yaml);
  if (invalid) {
    const code = invalid[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    fail(invalid.index, `YAML does not allow the character U+${code}`, "Remove it, or escape it in double quotes.");
  }
  let documents = 0;
  for (const token of tokens) {
    if (token.type === "document") {
      if (++documents > 1) fail(token.offset, "a second YAML document starts here", oneMapping);
      checkMarks([...token.start, ...(token.end ?? [])], fail);
      checkNode(token.value, { yaml, depth: 0, inFlow: false, fail });
    } else if (token.type === "comment" || token.type === "newline" || token.type === "space") {
      checkMarks([token], fail);
    } else if (token.type === "error") {
      fail(token.offset, "the line is not part of the mapping above it", "Check the indentation.");
    } else {
      fail(token.offset, "markers and directives of YAML documents are not supported", oneMapping);
    }
  }
}

/** Checks the tokens around values: white space, comments, indicators. */
function checkMarks(tokens: readonly CST.SourceToken[], fail: Fail): void {
  for (const { type, offset, source } of tokens) {
    // A tab may stand for any number of columns.
    const tab = source.indexOf("\t");
    if (tab !== -1) fail(offset + tab, "there is a tab", "Write spaces.");
    if (type === "anchor" || type === "tag" || type === "explicit-key-ind") cannotBegin(offset, source, fail);
    if (type === "doc-start") fail(offset, "a second YAML document starts here", oneMapping);
  }
}

function cannotBegin(offset: number, text: string, fail: Fail): never {
  return fail(offset, `a text cannot begin with ${text[0]}`, quoteIt);
}

function checkNode(token: CST.Token | null | undefined, place: Place): void {
  if (!token) return;
  const { fail, depth } = place;
  switch (token.type) {
    case "block-map":
    case "block-seq":
    case "flow-collection":
      if (depth > maxDepth) fail(token.offset, `it is nested deeper than ${maxDepth} levels`, "Write fewer levels.");
      return checkCollection(token, place);
    case "block-scalar":
      return checkBlockText(token, fail);
    case "single-quoted-scalar":
    case "double-quoted-scalar":
      checkQuoted(token, fail);
      return checkMarks(token.end ?? [], fail);
    case "scalar":
      checkPlain(token, place);
      return checkMarks(token.end ?? [], fail);
    default:
      return "source" in token ? cannotBegin(token.offset, token.source, fail) : undefined;
  }
}

function checkCollection(token: CST.BlockMap | CST.BlockSequence | CST.FlowCollection, place: Place): void {
  const { yaml, fail } = place;
  const inFlow = token.type === "flow-collection";
  const innerPlace: Place = { yaml, depth: place.depth + 1, inFlow, fail };
  for (const item of token.items) {
    checkMarks(item.start, fail);
    checkNode(item.key, innerPlace);
    checkMarks(item.sep ?? [], fail);
    if (inFlow) checkFlowItem(token, item, fail);
    else checkBlockItem(item, fail);
    checkNode(item.value, innerPlace);
  }
  if (!inFlow) return;
  checkMarks(token.end, fail);
  const close = token.end.find(({ type }) => type === "flow-seq-end" || type === "flow-map-end");
  const isOnOneLine = close && (place.inFlow || !yaml.slice(token.offset, close.offset).includes("\n"));
  if (!isOnOneLine) fail(token.offset, "the brackets are not closed on their line", "Write one entry on each line.");
}

function checkBlockItem({ start, sep, value }: CST.CollectionItem, fail: Fail): void {
  // The tokens between the key or the hyphen and the value.
  const gap = sep ?? start.slice(start.findIndex(({ type }) => type === "seq-item-ind") + 1);
  const lineEnd = gap.findIndex(({ type }) => type === "newline");
  if (lineEnd === -1) {
    if (sep && value?.type === "block-map") {
      const colon = value.items[0]?.sep?.find(({ type }) => type === "map-value-ind") ?? value;
      fail(colon.offset, "the text contains a colon", quoteIt);
    }
    return;
  }
  const nextLines = gap.slice(lineEnd);
  const colon = nextLines.find(({ type }) => type === "map-value-ind");
  if (colon) fail(colon.offset, "the colon is not on the line of its key", "Write the key and its colon on one line.");
  if (!value || value.type === "block-map" || value.type === "block-seq") return;
  const comment = nextLines.find(({ type }) => type === "comment");
  if (comment) fail(comment.offset, "a comment is between the key and its text", "Move the comment above the key.");
}

/** Refuses incomplete entries in brackets: without a value or a key, after the last comma, or a pair without braces. */
function checkFlowItem(token: CST.FlowCollection, { start, key, sep, value }: CST.CollectionItem, fail: Fail): void {
  const isPair = token.start.type === "flow-map-start";
  const isBlank = !key && !sep && !value && token.items.length === 1;
  if (isBlank || (value && (isPair ? key : !sep))) return;
  const offset = (start[0] ?? key ?? value ?? token).offset;
  fail(offset, "an entry in the brackets is not complete", "Write one entry on each line, or put its texts in quotes.");
}

/** Checks text after `|` or `>`. */
function checkBlockText({ offset, props, source }: CST.BlockScalar, fail: Fail): void {
  for (const token of props) {
    if (token.type !== "block-scalar-header") checkMarks([token as CST.SourceToken], fail);
    else if (!/^[|>][-+]?$/.test(token.source)) {
      const cure = "Write | or >, followed by - or + if the end of the text matters.";
      fail(token.offset, `the sign "${token.source}" that starts the text is not supported`, cure);
    }
  }
  const lines = source.split("\n");
  const first = lines.find((line) => /[^ ]/.test(line));
  const indent = first === undefined ? Infinity : first.search(/[^ ]/);
  let lineOffset = offset + props.reduce((length, token) => length + ("source" in token ? token.source.length : 0), 0);
  for (const line of lines) {
    if (line === first && line[indent] === "\t") fail(lineOffset, "there is a tab", "Write spaces.");
    if (line.length > indent && !/[^ ]/.test(line)) {
      fail(lineOffset, "an empty line of the text contains more spaces than its first line", "Remove the spaces.");
    }
    lineOffset += line.length + 1;
  }
}

/** Checks text without quotes, which may continue on lines below it in a block. */
function checkPlain({ offset, source }: CST.FlowScalar, { inFlow, fail }: Place): void {
  const tab = source.indexOf("\t");
  if (tab !== -1) fail(offset + tab, "there is a tab", "Write spaces.");
  let lineOffset = offset;
  for (const line of source.split("\n")) {
    const text = line.replace(/^ +/, "");
    // An indicator at the start of a line: the author probably meant another value.
    const isIndicator = /^(?:[#&*!|>%@`,\]}"'[{]|[?:-](?: |$))/.test(text) || (inFlow && /^[?:]/.test(text));
    if (isIndicator) cannotBegin(lineOffset + line.length - text.length, text, fail);
    lineOffset += line.length + 1;
  }
}

function checkQuoted({ offset, source }: CST.FlowScalar, fail: Fail): void {
  const isClosed = source.length > 1 && source.endsWith(source.charAt(0));
  if (source.includes("\n") || !isClosed) {
    fail(offset, "the quotes are not closed on their line", "Close them, or write a long text as a block after >.");
  }
  const tab = source.indexOf("\t");
  if (tab !== -1) fail(offset + tab, "there is a tab", "Write spaces, or \\t in double quotes.");
}
