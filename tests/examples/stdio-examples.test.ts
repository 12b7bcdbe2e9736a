import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Client, connect } from "mcparley/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { createShop } from "../../examples/testing/server.ts";
import { argumentsOf, commandOf, runExample } from "./run-example.ts";

describe.each(["2025-06-18", "2025-11-25", "2026-07-28"])("approval, on %s", (revision) => {
  let client: Client;
  let asked: string[];
  /** What the user answers: the text of the form, or nothing to decline. */
  let confirmation: string | undefined;

  beforeAll(async () => {
    client = await connect(commandOf("approval/server.ts"), {
      revision,
      elicit: ({ message }) => {
        asked.push(message);
        return confirmation === undefined ? { action: "decline" } : { action: "accept", content: { confirmation } };
      },
    });
  });
  afterAll(() => client.close());
  beforeEach(() => {
    asked = [];
  });

  test.each([
    ["declines", undefined],
    ["writes another name", "archive"],
  ])("deletes nothing if the user %s", async (_, text) => {
    confirmation = text;
    const result = await client.callTool("delete_project", { name: "website" });
    expect(result).toBe('The user did not approve. "website" was not deleted.');
    expect(await client.callTool("list_projects")).toContain("website: 214 files");
  });

  test("deletes a project if the user repeats its name", async () => {
    confirmation = "website";
    const result = await client.callTool("delete_project", { name: "website" });
    expect(asked).toEqual(['Delete project "website" with 214 files? This cannot be undone.']);
    expect(result).toBe('Deleted project "website" with 214 files.');
    expect(await client.callTool("list_projects")).toBe("archive: 1832 files");
  });
});

test("approval refuses a client that cannot ask its user", async () => {
  const client = await connect(commandOf("approval/server.ts"));
  await expect(client.callTool("delete_project", { name: "website" })).rejects.toThrow("elicitation");
  await client.close();
});

describe("database", () => {
  const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  let client: Client;
  const query = async (sql: string): Promise<string> => String(await client.callTool("query", { sql }));

  beforeAll(async () => {
    client = await connect(commandOf("database/server.ts"));
  });
  afterAll(() => client.close());

  test("shows its tables, and returns rows", async () => {
    expect(await client.callTool("schema")).toContain("CREATE TABLE books");
    const sql =
      "SELECT a.name, count(*) AS books FROM books b JOIN authors a ON a.id = b.author GROUP BY a.id ORDER BY 1";
    expect(JSON.parse(await query(sql))).toEqual([
      { name: "George Eliot", books: 2 },
      { name: "Jane Austen", books: 3 },
      { name: "Virginia Woolf", books: 3 },
    ]);
  });

  test.each(["DELETE FROM books", "WITH x AS (SELECT 1) DELETE FROM books", "DROP TABLE books"])(
    "changes nothing: %s",
    async (sql) => {
      await expect(query(sql)).rejects.toThrow("attempt to write a readonly database");
    },
  );

  test("explains an error of the query to the model", async () => {
    await expect(query("SELECT titel FROM books")).rejects.toMatchObject({
      code: "tool_error",
      message: "no such column: titel",
    });
  });

  test("returns at most 100 rows, and says so", async () => {
    const rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 101) SELECT i FROM n";
    const [json = "", note] = (await query(rows)).split("\n");
    expect(JSON.parse(json)).toHaveLength(100);
    expect(note).toBe("There are more rows. Add a LIMIT or a condition.");
    expect(JSON.parse(await query(rows.replace("101", "100")))).toHaveLength(100);
  });

  test("stops the query of a call that is cancelled, and answers the next one", async () => {
    const calling = new AbortController();
    const call = client.callTool("query", { sql: endless }, { signal: calling.signal });
    calling.abort();
    await expect(call).rejects.toThrow();
    expect(await query("SELECT count(*) AS n FROM books")).toBe('[{"n":8}]');
  });

  test("stops a query that takes too long", async () => {
    const impatient = await connect(commandOf("database/server.ts", { QUERY_TIMEOUT: "100" }));
    await expect(impatient.callTool("query", { sql: endless })).rejects.toThrow("The query took longer than 100 ms.");
    await impatient.close();
  });
});

describe("three-servers", () => {
  // The programs that the example starts do not have the environment of this test, and tsx keeps a cache for them.
  afterAll(async () => {
    const caches = (await readdir(tmpdir())).filter((name) => name.startsWith("tsx-"));
    for (const name of caches) await rm(path.join(tmpdir(), name), { recursive: true, force: true });
  });

  test("calls tools of a URL, of a program and of a folder", async () => {
    const { output, exited } = runExample(argumentsOf("three-servers/main.ts"));
    expect(await exited).toBe(0);
    expect(output()).toContain('[{"title":"Sense and Sensibility"},{"title":"Pride and Prejudice"}]');
    expect(output()).toContain("handbook://resources/on-call.md");
    expect(output()).toMatch(/^21:00$/m);
  });

  test("works without a server that is unavailable", async () => {
    const { output, exited } = runExample(argumentsOf("three-servers/main.ts"), {
      CLOCK_URL: "http://127.0.0.1:9/mcp",
    });
    expect(await exited).toBe(0);
    expect(output()).toContain("clock is unavailable");
    expect(output()).toContain('There is no tool "clock__time_in".');
    expect(output()).toContain("Sense and Sensibility");
  });
});

describe("testing", () => {
  test("its tests pass", async () => {
    const [tsx = "", loader = "", file = ""] = argumentsOf("testing/server.test.ts");
    const { output, exited } = runExample([tsx, loader, "--test", file]);
    expect(await exited, output()).toBe(0);
    expect(output()).toMatch(/^(# |ℹ )pass 7$/m);
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])(
    "its tools return values of their types on %s",
    async (revision) => {
      const client = await connect<ReturnType<typeof createShop>>(commandOf("testing/main.ts"), {
        revision,
        elicit: () => ({ action: "accept", content: {} }),
      });
      expect(await client.tools.check_stock()).toBe("312 pieces");
      // Revisions before 2025-06-18 have no elicitation, so the user cannot confirm the order.
      const ordering = client.tools.order({ article: "lamp", pieces: 2 }).then(({ total }) => total);
      if (revision < "2025-06-18") await expect(ordering).rejects.toThrow("elicitation");
      else expect(await ordering).toBe("79.80 EUR");
      await client.close();
    },
  );

  test("its server runs as a program", async () => {
    const client = await connect(commandOf("testing/main.ts"));
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["order", "check_stock"]);
    await client.close();
  });
});
