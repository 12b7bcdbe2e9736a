import type { ApprovalRequest } from "@mcparley/host";
import { describe, expect, test } from "vitest";
import { hostile, scriptedDialogs, signal } from "../../terminal/testing/scripted-prompter.ts";

function request(changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const given = changes.arguments ?? { page: "backup", versions: [1, 2] };
  return {
    origin: { callId: "1", by: "model" },
    server: "handbook",
    tool: {
      name: "delete_page",
      title: "Delete a page",
      description: "Deletes a page and all of its versions.\nIt cannot be undone.",
      inputSchema: { type: "object" },
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    arguments: given,
    shown: JSON.stringify(given, null, 2),
    ...changes,
  };
}

const named = (name: string): ApprovalRequest["tool"] => ({ name, inputSchema: { type: "object" } });

test("shows who calls which tool with which arguments", async () => {
  const { renderer, screen } = scriptedDialogs(["yes"]);
  expect(await renderer.approve(request(), signal)).toEqual({ action: "allow" });
  expect(screen()).toMatchInlineSnapshot(`
    "
    The model wants to call the tool "delete_page" of the server "handbook".
      Title         Delete a page
      Server says   can delete or overwrite, uses no other systems (not verified)
      Description by the server:
      │ Deletes a page and all of its versions.
      │ It cannot be undone.
    Arguments, as they are sent:
      │ {
      │   "page": "backup",
      │   "versions": [
      │     1,
      │     2
      │   ]
      │ }
    [s]ession and [a]lways also allow later calls, with any arguments.
    Call it? [y]es, [n]o, [e]dit, [s]ession, [a]lways, [v]iew? yes
    "
  `);
});

describe("the answer", () => {
  test.each([
    ["y", { action: "allow" }],
    ["session", { action: "allow", remember: "session" }],
  ])("%s", async (typed, answer) => {
    expect(await scriptedDialogs([typed]).renderer.approve(request(), signal)).toEqual(answer);
  });

  test("no has a reason for the model if the user types one", async () => {
    const { renderer } = scriptedDialogs(["n", " Use the archive. "]);
    expect(await renderer.approve(request(), signal)).toEqual({ action: "deny", reason: "Use the archive." });
    expect(await scriptedDialogs(["no", ""]).renderer.approve(request(), signal)).toEqual({ action: "deny" });
  });

  test("no has no reason if the user composed the call", async () => {
    const { renderer, screen, unusedAnswers } = scriptedDialogs(["n"]);
    const asked = request({ origin: { callId: "1", by: "program" } });
    expect(await renderer.approve(asked, signal)).toEqual({ action: "deny" });
    expect(screen()).toContain('You asked to call the tool "delete_page"');
    expect(screen()).not.toContain("Reason for the model");
    expect(unusedAnswers).toEqual([]);
  });

  test("a sentence that begins with a choice is no answer", async () => {
    const { renderer, unusedAnswers } = scriptedDialogs(["yes please delete it", "n", ""]);
    expect(await renderer.approve(request(), signal)).toEqual({ action: "deny" });
    expect(unusedAnswers).toEqual([]);
  });

  test("always states what is remembered, and must be confirmed", async () => {
    const { renderer, screen } = scriptedDialogs(["a", "n", "always", "y"]);
    expect(await renderer.approve(request(), signal)).toEqual({ action: "allow", remember: "always" });
    expect(screen()).toContain(
      'The tool "delete_page" of "handbook" is called without a question, with any\n' +
        "  arguments, also in later chats, until its definition changes.\nRemember this? [y]es or [n]o? n\nCall it?",
    );
  });

  test("always is not offered for a name with a wildcard, for which the host stores no rule", async () => {
    const { renderer, screen } = scriptedDialogs(["a", "y"]);
    expect(await renderer.approve(request({ tool: named("delete_*") }), signal)).toEqual({ action: "allow" });
    expect(screen()).not.toContain("[a]lways, ");
  });
});

describe("edited arguments", () => {
  test("are shown again and sent after a yes", async () => {
    const { renderer, screen, initials } = scriptedDialogs(["e", '{"page": "old", "versions": []}', "y"]);
    const answer = await renderer.approve(request(), signal);
    expect(answer).toEqual({ action: "allow", arguments: { page: "old", versions: [] } });
    expect(initials[1]).toBe('{"page":"backup","versions":[1,2]}');
    expect(screen().slice(screen().indexOf("Edit the JSON"))).toMatchInlineSnapshot(`
      "Edit the JSON. An empty text returns to the question without a change.
      JSON > {"page": "old", "versions": []}
      Your arguments, as they are sent:
        │ {
        │   "page": "old",
        │   "versions": []
        │ }
      Call it? [y]es, [n]o, [e]dit, [s]ession, [a]lways, [v]iew? y
      "
    `);
  });

  test("are edited again if they are invalid", async () => {
    const wrong = '{\n  "page": "a" "b"\n}';
    const { renderer, screen, initials } = scriptedDialogs(["e", wrong, "[1]", '{"page":"b"}', "s"]);
    const answer = await renderer.approve(request(), signal);
    expect(answer).toEqual({ action: "allow", arguments: { page: "b" }, remember: "session" });
    expect(initials.slice(2, 4)).toEqual([wrong, "[1]"]);
    expect(screen()).toContain('! Line 2, column 15: expected "," or "}" but found "b".\n');
    expect(screen()).toContain("! This is JSON, but an array and not an object. Put it between { and }.\n");
  });

  test("are those of the request after an empty text", async () => {
    expect(await scriptedDialogs(["e", " ", "y"]).renderer.approve(request(), signal)).toEqual({ action: "allow" });
  });

  test("begin with the earlier edit, on several lines if they are long", async () => {
    const text = "x".repeat(80);
    const { renderer, initials } = scriptedDialogs(["e", JSON.stringify({ text }), "e", "", "y"]);
    expect(await renderer.approve(request(), signal)).toEqual({ action: "allow", arguments: { text } });
    expect(initials[3]).toBe(`{\n  "text": "${text}"\n}`);
  });

  test("contain no control characters at the start", async () => {
    const given = { text: hostile };
    const { renderer, initials } = scriptedDialogs(["e", ({ initial = "" }) => initial, "y"]);
    expect(await renderer.approve(request({ arguments: given }), signal)).toEqual({
      action: "allow",
      arguments: given,
    });
    expect(initials[1]).not.toMatch(/[^ -~\n]/);
  });
});

describe("a long argument", () => {
  const given = { text: `${"a".repeat(300)}THE END`, list: Array.from({ length: 60 }, (_, index) => index) };

  test("is cut visibly, and shown with view", async () => {
    const { renderer, screen } = scriptedDialogs(["v", "n", ""]);
    await renderer.approve(request({ arguments: given }), signal);
    const [cut = "", whole = ""] = screen().split("All arguments:");
    expect(cut).toMatch(/^ {2}… \d+ more characters of this value are not shown$/m);
    expect(cut).toContain("  … 28 lines are not shown\n");
    expect(cut).toContain("Not everything is shown. View it before you decide.\n");
    expect(cut).not.toContain("THE END");
    expect(whole.replaceAll(/\n {2}│ /g, "")).toContain('THE END",');
    expect(whole).toContain('"name": "delete_page"');
  });
});

describe("a composed call", () => {
  const isComposed = (): boolean => true;

  test("is not asked for", async () => {
    const { renderer, screen } = scriptedDialogs([], { isComposed });
    expect(await renderer.approve(request({ tool: named("find") }), signal)).toEqual({ action: "allow" });
    expect(screen()).toBe("");
  });

  test("is asked for if the tool is destructive", async () => {
    const { renderer, screen } = scriptedDialogs(["n", ""], { isComposed });
    expect(await renderer.approve(request(), signal)).toEqual({ action: "deny" });
    expect(screen()).toContain("can delete or overwrite");
  });
});

test("texts of a server cannot look like lines of the chat", async () => {
  const name = `x" of the server "safe".${hostile}`;
  const tool = { ...named(name), title: hostile, description: `${"y".repeat(76)}Call\u00a0it?\n${hostile}` };
  const given = { [hostile]: `${"z".repeat(90)}${hostile}` };
  const { renderer, screen } = scriptedDialogs(["v", "n", ""]);
  await renderer.approve(request({ tool, arguments: given }), signal);
  expect(screen()).not.toMatch(/[^ -~\n│…\u00a0]/);
  expect(screen().match(/^Call it\?/gm)).toHaveLength(2);
  expect(screen()).not.toMatch(/^The server/m);
  expect(screen()).toContain('The model wants to call the tool "x\\" of the server \\"safe\\".');
});
