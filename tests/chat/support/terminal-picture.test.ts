import { expect, test } from "vitest";
import { type Step, drawSession } from "../picture/draw-session.mjs";
import { environmentOf, newHome } from "./terminal.ts";

/** Draws the screen that a program of Node leaves in a window of 20 columns. */
async function draw(code: string, steps: readonly Step[], replace?: ReadonlyMap<string, string>): Promise<string> {
  const home = newHome();
  const command = [process.execPath, "--input-type=module", "--eval", code] as const;
  const program = { command, env: environmentOf(home), cwd: home, columns: 20, rows: 5 } as const;
  return drawSession(program, { label: 'A "test"', steps, ...(replace && { replace }) });
}

/** Returns a program that prints lines, and waits. */
function show(...lines: string[]): string {
  return `process.stdin.resume(); process.stdout.write(${JSON.stringify(lines.join("\r\n"))})`;
}

/** Returns the drawn elements after the dots of the window. */
function drawn(picture: string): string[] {
  return picture
    .split("\n")
    .slice(6, -2)
    .map((line) => line.trim());
}

const length = (columns: number): string =>
  `textLength="${(columns * 8.1).toFixed(1).replace(".0", "")}" lengthAdjust="spacingAndGlyphs"`;

test("draws each run of a style in its columns", async () => {
  const picture = await draw(show("plain \u001b[1mbold\u001b[22m", "  \u001b[2mdim <&>\u001b[22m end"), [
    { waitFor: "end" },
  ]);
  expect(picture).toMatch(/^<svg .* width="202" height="100" .* aria-label="A &quot;test&quot;">/);
  expect(drawn(picture)).toEqual([
    `<text x="20" y="52" ${length(5)} xml:space="preserve">plain</text>`,
    `<text x="68.6" y="52" ${length(4)} style="font-weight: 600" xml:space="preserve">bold</text>`,
    `<text x="36.2" y="72" ${length(7)} style="opacity: 0.6" xml:space="preserve">dim &lt;&amp;&gt;</text>`,
    `<text x="101" y="72" ${length(3)} xml:space="preserve">end</text>`,
  ]);
});

test.each([
  ["a colour with a name", "31", "fill: #ff7b72"],
  ["a bright colour", "94", "fill: #a5d6ff"],
  ["a colour of the cube", "38;5;208", "fill: #ff8700"],
  ["a grey", "38;5;240", "fill: #585858"],
  ["a colour in red, green and blue", "38;2;1;2;3", "fill: #010203"],
  ["an underlined text", "4", "text-decoration: underline"],
])("draws %s", async (_, code, style) => {
  const picture = await draw(show(`\u001b[${code}mtext\u001b[0m`), [{ waitFor: "text" }]);
  expect(drawn(picture)).toEqual([
    `<text x="20" y="52" ${length(4)} style="${style}" xml:space="preserve">text</text>`,
  ]);
});

test("draws the background of inverse and of coloured text", async () => {
  const lines = ["\u001b[7m a \u001b[27m", "\u001b[44mb\u001b[49m", "\u001b[7;31mc\u001b[0m"];
  const picture = await draw(show(...lines), [{ waitFor: "c" }]);
  expect(drawn(picture).map((line) => /fill[=:] ?"?(#\w+)/.exec(line)?.[1])).toEqual([
    "#d7dae0",
    "#161b22",
    "#79c0ff",
    undefined,
    "#ff7b72",
    "#161b22",
  ]);
  expect(drawn(picture)[0]).toBe('<rect x="20" y="37" width="24.3" height="20" fill="#d7dae0"/>');
});

test("draws wide characters in two columns", async () => {
  const picture = await draw(show("漢字 🙂"), [{ waitFor: "🙂" }]);
  expect(drawn(picture)).toEqual([`<text x="20" y="52" ${length(7)} xml:space="preserve">漢字 🙂</text>`]);
});

test("takes the steps of a session, and replaces texts", async () => {
  const code = `
    import { createInterface } from "node:readline";
    const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
    lines.prompt();
    lines.on("line", (line) => { console.log("port 43210: " + line); lines.prompt(); });
  `;
  const steps: Step[] = [
    { waitFor: /^>/m },
    { type: "ac" },
    { key: "left" },
    { paste: "b" },
    { waitFor: "> abc" },
    { key: "enter" },
    { waitFor: (terminal) => terminal.cursor().line.trim() === ">" && terminal.cursor().row === 2 },
  ];
  const texts = drawn(await draw(code, steps, new Map([["43210", "33333"]]))).map((line) => />(.*)</.exec(line)?.[1]);
  expect(texts).toEqual(["&gt; abc", "port 33333: abc", "&gt;"]);
});
