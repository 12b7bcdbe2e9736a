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
  count: ["count", {}],
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
  const last = request.messages.findLastIndex(isOfUser);
  const [, number, word = ""] = [...JSON.stringify(request.messages[last] ?? "").matchAll(message)].at(-1) ?? [];
  if (number === undefined) return say("blue");
  const call = calls[word];
  const isAnswered = request.messages.slice(last).some(({ role }) => role === "tool");
  if (!call || isAnswered) return say(...Array(20).fill("A sentence of the answer. "), `done ${number}`);
  return say("I call the tool. ", toolCall(offered(request, call[0]), call[1]));
};

/** Whether the user wrote a message. The files of a result are a message of their own. @param {ModelRequest["messages"][number]} message */
function isOfUser({ role, content }) {
  return role === "user" && !JSON.stringify(content).includes("The files of the results above.");
}

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

/** Names a resource, which is attached the first time and read again after its changes. @type {Turn} */
function attach({ person }, number) {
  return person.say(`soak ${number} text @server:counter://value`, { expected: `done ${number}` });
}

/** Expands a prompt of the server, whose answer has no number. @type {Turn} */
function expand({ person }, number) {
  return person
    .say("/server:review code=x language=go", { expected: "tokens in" })
    .then(() => mark({ person }, number));
}

/** Sends a message, so that the next turn does not find the text of an earlier one. @param {Pick<Stage, "person">} stage @param {number} number */
function mark({ person }, number) {
  return person.say(`soak ${number} text`, { expected: `done ${number}` });
}

/** Starts a new conversation. The memory of a chat contains its conversation. @type {Turn} */
async function startAgain({ person }, number) {
  await person.say("/new", { expected: "A new conversation" });
  await mark({ person }, number);
}

/** Cancels a call while it reports progress. The model then ends the turn. @type {Turn} */
function cancel({ person }, number) {
  return person.sayAndCancel(`soak ${number} slow`, { seen: "step 3", expected: `done ${number}` });
}

/** The turns of one round. The server dies near the end, and is connected again. @type {readonly Turn[]} */
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
  attach,
  ask("count"),
  attach,
  expand,
  enter("/why", "estimate of tokens"),
  enter("/tools", "change_tools"),
  enter("/resources", "note://"),
  enter("/prompts", "review"),
  enter("/attached", "counter://value"),
  enter("/servers", "revision"),
  cancel,
  // The changed tool is reviewed, which the turn waits for.
  ({ person }, number) => person.say(`soak ${number} change`, { expected: "new: server__echo" }),
  ask("die"),
  // The definitions are those before the change, so they are reviewed.
  enter("/servers reconnect server", "new: server__echo"),
  ask("echo"),
  startAgain,
];
