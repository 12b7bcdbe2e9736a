import type { ServerTarget } from "@mcparley/config";
import { UsageError } from "../../terminal/io.ts";
import type { TalkSetting } from "../../terminal/questions/prompter.ts";
import type { CommandSetting } from "../connection/command.ts";
import type { NewServer } from "./new-target.ts";
import type { AddOptions } from "./options.ts";
import { type PackageWord, readRunner } from "../../targets/package-runner.ts";
import { runTool } from "./run-tool.ts";
import { approveOrigin } from "./try-server.ts";

/** The time for a question to a registry in milliseconds. */
const timeout = 30_000;

/**
 * Returns a target in which package runners such as `npx` and `uvx` have exact versions, so that a later version of the package does not
 * run unseen. The versions are those that the installed `npm`, `uv` or `pip` finds now. The user is asked for a server of a configuration
 * file before, because the words of its entry select the package.
 *
 * Throws `UsageError` if a version cannot be determined.
 */
export async function pinPackages(
  { target, origin }: NewServer,
  setting: CommandSetting<AddOptions>,
): Promise<ServerTarget> {
  if (target.kind === "url") return target;
  const words = [target.command, ...target.args];
  const runner = readRunner(words.map((word) => (typeof word === "string" ? word : undefined)));
  if (!runner) return target;
  if (runner.unknown !== undefined) {
    throw unpinnedError(`The package of ${JSON.stringify(words[0])} cannot be found in its words (${runner.unknown}).`);
  }
  if (origin) await approveOrigin(origin, setting);
  const pinnedWords = new Map<number, string>();
  for (const word of runner.packages) {
    const spec = runner.registry === "npm" ? await pinNpm(word, setting) : await pinPypi(word, setting);
    pinnedWords.set(word.index, word.prefix + spec);
  }
  const [command = "", ...args] = words.map((word, index) => pinnedWords.get(index) ?? word);
  return { ...target, command, args };
}

async function pinNpm({ spec }: PackageWord, setting: TalkSetting): Promise<string> {
  const [, name, version] = /^((?:@[\w.~-]+\/)?\w[\w.~-]*)(?:@([^@\s]+))?$/.exec(spec) ?? [];
  if (name === undefined) throw unpinnedError(`${JSON.stringify(spec)} is not a package of the npm registry.`);
  if (version !== undefined && /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(version)) return spec;
  const result = await ask(["npm", "view", spec, "version", "--json"], setting);
  const newestVersion = newest(result);
  if (newestVersion === undefined)
    throw unpinnedError(`The version of ${spec} cannot be determined: ${reasonOf(result, "npm")}.`);
  return `${name}@${newestVersion}`;
}

type Answer = Awaited<ReturnType<typeof runTool>>;

/** Returns the version in the answer of `npm view`: one, or those of a range in ascending order. */
function newest(result: Answer): string | undefined {
  if (result?.code !== 0) return undefined;
  try {
    const value: unknown = JSON.parse(result.stdout);
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    return typeof last === "string" && /^\d+\.\d+\.\d+[\w.+-]*$/.test(last) ? last : undefined;
  } catch {
    return undefined;
  }
}

async function pinPypi({ spec, isPositional }: PackageWord, setting: TalkSetting): Promise<string> {
  const [, name, extras = "", version] = /^(\w[\w.-]*)(\[[\w,.-]+\])?(?:(?:==|@)([\w.+!-]+))?$/.exec(spec) ?? [];
  if (name === undefined) throw unpinnedError(`${JSON.stringify(spec)} is not a package of PyPI.`);
  if (version !== undefined && /^\d/.test(version)) return spec;
  const exactVersion = await versionOfPypi(name, setting);
  // The form of `uvx` for an exact version of the tool that it runs.
  return isPositional && extras === "" ? `${name}@${exactVersion}` : `${name}${extras}==${exactVersion}`;
}

async function versionOfPypi(name: string, setting: TalkSetting): Promise<string> {
  const words = ["uv", "pip", "compile", "--no-deps", "--no-header", "--no-annotate", "--quiet", "-"];
  const compileResult = await ask(words, setting, `${name}\n`);
  const [, ofUv] = /^[\w.-]+==([\w.+!-]+)\s*$/m.exec(compileResult?.code === 0 ? compileResult.stdout : "") ?? [];
  if (ofUv !== undefined) return ofUv;
  const indexResult = await ask(["pip", "index", "versions", name], setting);
  const [, ofPip] = /^[\w.-]+ \(([\w.+!-]+)\)/m.exec(indexResult?.code === 0 ? indexResult.stdout : "") ?? [];
  if (ofPip !== undefined) return ofPip;
  throw unpinnedError(`The version of ${name} cannot be determined: ${reasonOf(compileResult ?? indexResult, "uv")}.`);
}

function ask(words: readonly string[], { io, stop }: TalkSetting, input = ""): Promise<Answer> {
  return runTool(words, { io, signal: stop.signal, timeout, input });
}

function reasonOf(result: Answer, program: string): string {
  if (!result) return `${program} is not installed`;
  if (result.code === undefined) return `${program} did not end within ${timeout / 1000} s`;
  return result.code === 0 ? `${program} found no version` : `${program} failed with exit code ${result.code}`;
}

function unpinnedError(fact: string): UsageError {
  return new UsageError(fact, "Name an exact version, or add --no-pin to run whatever version is found at each start.");
}
