import fc from "fast-check";

/** The half of an emoji that `slice` leaves at the end of a text. */
const half = "cut \ud83d";

const text = fc.constantFrom("", "a text", half, "line\nbreak", "\u202e", "<server-text>", '{"a":1}');
/** A value in place of the right one: missing, null, or of another type. */
const wrong = fc.constantFrom<unknown>(undefined, null, 5, true, half, [], [null], {}, { a: [half] });

/** Mostly the right value, and sometimes a wrong one. */
function mostly<T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: value, weight: 3 }, { arbitrary: wrong, weight: 1 });
}

const uri = fc.constantFrom("note://1", "file:///a b", half);
const mimeType = fc.constantFrom("text/plain", "image/png", "application/json", half);
const data = fc.constantFrom("AAAA", "", "no base64!", "eyJhIjoxfQ==", half);
const annotations = fc.record({
  audience: mostly(fc.constant(["user"])),
  priority: mostly(fc.constant(1)),
  lastModified: mostly(fc.constant("2026-07-28T12:00:00Z")),
});
const resource = fc.record({
  uri: mostly(uri),
  mimeType: mostly(mimeType),
  text: mostly(text),
  blob: mostly(data),
  _meta: mostly(fc.constant({})),
});

/** The types of content in all revisions, with those of sampling messages, and values that are no type. */
const types: unknown[] = ["text", "image", "audio", "resource", "resource_link", "tool_use", "tool_result"];
types.push("video", "", "toString", "__proto__", half, null, undefined, 5);
const type = fc.constantFrom(...types);

/** A content block of any revision in which any member can be missing or wrong, or a value that is no block. */
export const anyBlock: fc.Arbitrary<unknown> = fc.oneof(
  {
    arbitrary: fc.record({
      type,
      text: mostly(text),
      data: mostly(data),
      mimeType: mostly(mimeType),
      uri: mostly(uri),
      name: mostly(text),
      title: mostly(text),
      description: mostly(text),
      size: mostly(fc.constant(3)),
      icons: mostly(fc.constant([{ src: "data:," }])),
      resource: mostly(resource),
      annotations: mostly(annotations),
      _meta: mostly(fc.constant({ "com.example/a": half })),
      id: mostly(text),
      toolUseId: mostly(text),
      input: mostly(fc.constant({})),
      content: mostly(fc.constant([{ type: "text", text: half }])),
    }),
    weight: 8,
  },
  { arbitrary: wrong, weight: 1 },
  // A block of 1 MB.
  { arbitrary: fc.constantFrom("text", "image", "video").map((large) => largeBlock(large)), weight: 1 },
);

function largeBlock(ofType: string): unknown {
  const value = "QUJD".repeat(262_144);
  return ofType === "image" ? { type: ofType, data: value, mimeType: "image/png" } : { type: ofType, text: value };
}

/** Content with readable texts between any blocks. `kept` are these texts, in their order. */
export interface MixedContent {
  readonly content: unknown[];
  readonly kept: readonly string[];
}

export const mixedContent: fc.Arbitrary<MixedContent> = fc
  .array(fc.oneof(anyBlock, fc.constant("kept")), { minLength: 1, maxLength: 8 })
  .map((blocks) => {
    const kept: string[] = [];
    const content = [...blocks, "kept"].map((block) => {
      if (block !== "kept") return block;
      kept.push(`kept-${kept.length}.`);
      return { type: "text", text: kept.at(-1) };
    });
    return { content, kept };
  });

/** Whether JSON text has the escape of a lone surrogate, outside of escaped backslashes. */
export function hasHalf(json: string): boolean {
  return /(?<!\\)(?:\\\\)*\\ud[89a-f]/i.test(json);
}
