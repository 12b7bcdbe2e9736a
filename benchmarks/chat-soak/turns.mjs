// @ts-check
import { say, toolCall } from "../../tests/chat/support/scripted-endpoint.mjs";

/** @import { AnswerFunction, ModelRequest } from "../../tests/chat/support/scripted-endpoint.mjs" */
/** @import { PseudoTerminal } from "../../tests/chat/support/pseudo-terminal.mjs" */
/** @import { Person } from "./person.mjs" */

/** A part of the conversation. `number` is unique, and its text is on the screen at the end. @typedef {(stage: Stage, number: number) => Promise<void>} Turn */
/** @typedef {{ person: Person, terminal: PseudoTerminal }} Stage */

/** The calls of the model, by the word in the message of the user. @type {Readonly<Record<string, readonly [tool: string, given: object]>>} */
const calls = {
  echo: ["echo", { text: "x".repeat(2_000) }],
  add: ["add", { a: 1, b: 2 }],
  delete: ["delete_all", { folder: "/nowhere" }],
  picture: ["picture", {}],
  logs: ["log_lines", {}],
  task: ["task", { steps: 3, interval: 20 }],
  form: ["ask_form", {}],
  url: ["ask_url", {}],
  sampling: ["ask_model", { question: "Which colour?" }],
  slow: ["slow", { interval: 50 }],
  die: ["die", {}],
  change: ["change_tools", {}],
};

/** A message of the user, in which a number names the turn. */
const message = /soak (\d+) (\w+)/g;

/**
 * Answers as the model: calls the tool that the last message of the user names, and then writes that the turn is done. A request of
 * another kind is that of a server.
 *
 * @type {AnswerFunction}
 */
export const answerAsModel = (request) => {
  const last = request.messages.findLastIndex(({ role }) => role === "user");
  const [, number, word = ""] = [...JSON.stringify(request.messages[last] ?? "").matchAll(message)].at(-1) ?? [];
  if (number === undefined) return say("blue");
  const call = calls[word];
  const isAnswered = request.messages.slice(last).some(({ role }) => role === "tool");
  if (!call || isAnswered) return say(...Array(20).fill("A sentence of the answer. "), `done ${number}`);
  return say("I call the tool. ", toolCall(offered(request, call[0]), call[1]));
};

/** Returns the name under which a tool is offered: that of its server and its own. @param {ModelRequest} request @param {string} tool */
function offered({ tools }, tool) {
  return tools.find((name) => name.endsWith(`_${tool}`)) ?? tool;
}

/** Returns a turn that sends a message. @param {string} word @param {readonly string[]} [fields] @returns {Turn} */
function ask(word, fields = []) {
  return ({ person }, number) => person.say(`soak ${number} ${word}`, { expected: `done ${number}`, fields });
}

/** Returns a turn that enters a command of the chat. @param {string} command @param {string} expected @returns {Turn} */
function enter(command, expected) {
  return ({ person }) => person.say(command, { expected });
}

/** Resizes the window while the model answers. @type {Turn} */
async function resize({ person, terminal }, number) {
  terminal.resize(60 + (number % 60), 20 + (number % 20));
  await person.say(`soak ${number} text`, { expected: `done ${number}` });
  terminal.resize(80, 24);
}

/** Pastes a message of several lines, and sends it. @type {Turn} */
async function paste({ person, terminal }, number) {
  terminal.paste(`first line\nsecond line\nsoak ${number} text`);
  await terminal.waitFor(`soak ${number} text`);
  await person.say("", { expected: `done ${number}` });
}

/** Cancels a call while it reports progress. The model then ends the turn. @type {Turn} */
function cancel({ person }, number) {
  return person.sayAndCancel(`soak ${number} slow`, { seen: "step ", expected: `done ${number}` });
}

/** The turns of one round. The server dies in the first one of the last two, and comes back in the other one. @type {readonly Turn[]} */
export const round = [
  ask("text"),
  ask("echo"),
  ask("add"),
  ask("delete"),
  ask("picture"),
  ask("logs"),
  ask("task"),
  ask("form", ["Ada", "1"]),
  ask("url"),
  ask("sampling"),
  paste,
  resize,
  enter("/why", "tokens"),
  enter("/tools", "echo"),
  enter("/resources", "note://today"),
  enter("/prompts", "review"),
  enter("/servers", "test"),
  cancel,
  ask("die"),
  ask("echo"),
];
