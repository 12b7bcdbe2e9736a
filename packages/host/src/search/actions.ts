import { STOP_WORDS, stem } from "./words.ts";

type Action = "create" | "delete" | "read" | "update" | "send" | "stop" | "start";

/** The verbs of each kind of action. A verb can be in several kinds. */
const VERBS: Readonly<Record<Action, string>> = {
  create:
    "create add new insert make generate provision compose write open register setup post append upload set link connect associate assign",
  delete: "delete remove erase drop destroy clear purge uninstall teardown wipe forget",
  read: "list get show read view retrieve fetch describe search find query lookup inspect display which what count explain check see",
  update: "update edit change modify set patch adjust rename upgrade replace write add append",
  send: "send post publish reply forward answer share submit",
  stop: "stop cancel abort end pause disable",
  start: "start run execute launch trigger play enable",
};

const actionsByStem = readVerbs();

function readVerbs(): Map<string, Set<string>> {
  const actions = new Map<string, Set<string>>();
  for (const [action, verbs] of Object.entries(VERBS)) {
    for (const verb of verbs.split(" ").map(stem)) actions.set(verb, (actions.get(verb) ?? new Set()).add(action));
  }
  return actions;
}

/** Returns the kinds of action of all verbs among the words of a tool's name. */
export function actionsOfName(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.flatMap((word) => [...(actionsByStem.get(stem(word)) ?? [])]));
}

/** Words that are verbs at the start of a query, and usually nouns or adjectives elsewhere, such as "the next run". */
const NOUNS = new Set(
  "run set post share link check count view query list answer change open play show which what copy release start".split(
    " ",
  ),
);

/** Returns the kinds of action of a query: those of its first word if it is a verb, or else of the first word that is only a verb. */
export function actionsOfQuery(words: readonly string[]): readonly string[] {
  const isVerb = (word: string): boolean => actionsByStem.has(stem(word));
  const first = words.find((word) => isVerb(word) || !STOP_WORDS.has(word));
  const verb = first !== undefined && isVerb(first) ? first : words.find((word) => isVerb(word) && !NOUNS.has(word));
  return verb === undefined ? [] : [...(actionsByStem.get(stem(verb)) ?? [])];
}
