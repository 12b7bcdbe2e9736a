import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../../command-line.ts";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { runChat } from "../../chat/run-chat.ts";
import { type FakeIo, type FakeOptions, fakeIo } from "../testing/fake-io.ts";
import {
  type HostileProject,
  hostileProject,
  nameOf,
  projectNames,
  serverFiles,
  urlName,
} from "../testing/hostile-project.ts";

/*
 * Each command in the folder of a cloned repository whose files are hostile. Nothing is started or contacted before a yes.
 */

interface Ended {
  readonly code: number;
  readonly io: FakeIo;
  /** Its stderr on one line. */
  readonly text: string;
}

/** Runs a command in the project. */
async function runIn(
  { cwd, env }: Pick<HostileProject, "cwd" | "env">,
  words: readonly string[],
  options: FakeOptions = {},
): Promise<Ended> {
  const io = fakeIo({ cwd, env: { ...env }, ...options });
  const code = await run(words, { ...io, onTerminate: () => () => {} });
  return { code, io, text: io.err().replaceAll(/\s+/g, " ") };
}

/** Each command that uses a server, with a word for the server. */
const commands: readonly (readonly string[])[] = [
  ["list", "NAME"],
  ["call", "NAME", "add", "a=1", "--allow", "*"],
  ["read", "NAME", "notes://1"],
  ["prompt", "NAME", "greet", "--send-answers"],
  ["complete", "NAME", "prompt:greet", "name", "a"],
  ["watch", "NAME"],
  ["login", "NAME"],
  ["logout", "NAME"],
  ["whoami", "NAME"],
  ["add", "NAME", "--to", "codex", "--yes"],
  ["chat", "NAME"],
  ["chat", "NAME", "--prompt", "Hello", "--model", "qwen3", "--base-url", "http://127.0.0.1:9/v1", "--allow", "*"],
];

test.each(commands.map((words) => [words.join(" "), words]))(
  "%s refuses each server of a project, and names --trust",
  async (_line, words) => {
    const project = await hostileProject();
    for (const name of projectNames) {
      const given = words.map((word) => (word === "NAME" ? name : word));
      const { code, text } = await runIn(project, given);
      expect(`${name}: ${project.effects().join()}`).toBe(`${name}: `);
      expect(`${name}: ${code} ${text}`).toMatch(
        /: 7 mcparley: The server .* is not trusted, and there is no terminal to ask at\. .*add --trust to (?:start|contact) it\./s,
      );
    }
  },
);
