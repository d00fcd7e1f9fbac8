// Runs AG-UI's public client against a server: every kind of run, resumed, replayed and cut off. The client
// checks the order and the shape of all events itself; what it warns of counts as well.
//
// node agui.mjs PACKAGES URL TOKEN, where PACKAGES is the folder that the client is installed in.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , packages, url, token] = process.argv;
const require = createRequire(`${packages}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { HttpAgent, enforceEvents, verifyEvents } = await load("@ag-ui/client");
const { from, lastValueFrom, toArray } = await load("rxjs");

const complaints = [];
// A result's card stands in `ui_schema` for those who read the stream themselves; the client takes that
// away, says so, and finds the card in `metadata`.
const isExpected = (text) => text.includes("'/ui_schema' on TOOL_CALL_RESULT");
console.warn = (...words) => {
  const text = words.join(" ");
  if (!isExpected(text)) complaints.push(text);
};
console.error = console.warn;

const headers = { Authorization: `Bearer ${token}` };
const thread = `agui-${process.pid}`;
let runs = 0;

/** Makes a call of a tool as a model would. */
const call = (id, name, args) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } });
const routed = (id, module, method, input) => call(id, "project_cli", { module, method, input });

/** Is a conversation, with the events of its last run. */
class Conversation {
  constructor(name) {
    this.agent = new HttpAgent({ url: `${url}/runs`, headers, threadId: name });
    this.agent.messages = [{ id: `${name}-u`, role: "user", content: "hello" }];
    this.agent.subscribe({ onEvent: ({ event }) => void this.events.push(event) });
  }

  async run(options = {}) {
    this.events = [];
    this.id = `run-${++runs}`;
    await this.agent.runAgent({ runId: this.id, ...options });
    await this.replayed();
    return this.events;
  }

  /** Answers all that the last run waits for, each with the same. */
  resume(answer) {
    const open = this.agent.pendingInterrupts;
    assert.ok(open.length > 0, "nothing waits");
    return this.run({ resume: open.map(({ id }) => ({ interruptId: id, ...answer })) });
  }

  types() {
    return this.events.map((event) => event.type).join(" ");
  }

  /** Reads the run again, whole and behind every event: it must be the same, and pass the same checks. */
  async replayed() {
    const whole = await replay(this.agent.threadId, this.id);
    assert.deepEqual(whole.map(({ data }) => data.type), this.events.map((event) => event.type));
    for (const [at, { id }] of whole.entries()) {
      const rest = await replay(this.agent.threadId, this.id, id);
      const union = [...whole.slice(0, at + 1), ...rest];
      assert.deepEqual(union, whole, `behind ${id}`);
      await verified(union.map(({ data }) => data));
    }
  }
}

/** Reads the events of a run that was, behind one of them. */
async function replay(threadId, run, last) {
  const more = last ? { "Last-Event-ID": last } : {};
  const address = `${url}/runs/${run}/events?thread_id=${threadId}`;
  const answer = await fetch(address, { headers: { ...headers, ...more }, signal: AbortSignal.timeout(20_000) });
  assert.equal(answer.status, 200);
  const blocks = (await answer.text()).split("\n\n").filter((block) => block.includes("data: "));
  return blocks.map((block) => ({ id: /^id: (.*)$/m.exec(block)[1], data: JSON.parse(/^data: (.*)$/m.exec(block)[1]) }));
}

const verified = (events) => lastValueFrom(from(events).pipe(enforceEvents(), verifyEvents(), toArray()));
const result = (events) => JSON.parse(events.find((event) => event.type === "TOOL_CALL_RESULT").content);
const outcome = (events) => events.at(-1).outcome?.type;

const CALLS = "TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END";
const AGAIN = "RUN_STARTED TOOL_CALL_RESULT RUN_FINISHED";

const checks = {
  async "plain run"() {
    const talk = new Conversation(`${thread}-plain`);
    await talk.run();
    assert.equal(talk.types(), "RUN_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED");
    assert.equal(talk.agent.messages.at(-1).role, "assistant");
  },
  async "calls through project_cli and by name"() {
    const talk = new Conversation(`${thread}-calls`);
    const toolCalls = [
      routed(`${thread}-1`, "count_words", "count", { text: "to be or not" }),
      call(`${thread}-2`, "count_words.count", { text: "to be" }),
      routed(`${thread}-3`, "count_words", "no_such", {}),
    ];
    const events = await talk.run({ forwardedProps: { toolCalls } });
    const results = "TOOL_CALL_RESULT ".repeat(3);
    assert.equal(talk.types(), `RUN_STARTED ${CALLS} ${CALLS} ${CALLS} ${results}RUN_FINISHED`);
    const all = events.filter((event) => event.type === "TOOL_CALL_RESULT").map((event) => JSON.parse(event.content));
    assert.deepEqual(all.map((one) => one.status), ["success", "success", "failure"]);
    assert.equal(outcome(events), "success");
  },
  async "interrupt, approved"() {
    const talk = new Conversation(`${thread}-yes`);
    const toolCalls = [routed(`${thread}-4`, "careful", "count", { text: "a b" })];
    assert.equal(outcome(await talk.run({ forwardedProps: { toolCalls } })), "interrupt");
    assert.equal(talk.agent.pendingInterrupts[0].toolCallId, `${thread}-4`);
    const events = await talk.resume({ status: "resolved", payload: { approved: true } });
    assert.equal(talk.types(), AGAIN);
    assert.equal(result(events).status, "success");
    assert.deepEqual(talk.agent.pendingInterrupts, []);
  },
  async "interrupt, denied"() {
    const talk = new Conversation(`${thread}-no`);
    const toolCalls = [routed(`${thread}-5`, "careful", "count", { text: "a b" })];
    await talk.run({ forwardedProps: { toolCalls } });
    const events = await talk.resume({ status: "resolved", payload: { decision: "deny" } });
    assert.equal(talk.types(), AGAIN);
    assert.equal(result(events).status, "failure");
  },
  async "interrupt, given up"() {
    const talk = new Conversation(`${thread}-left`);
    const toolCalls = [routed(`${thread}-6`, "careful", "count", { text: "a b" })];
    await talk.run({ forwardedProps: { toolCalls } });
    const events = await talk.resume({ status: "cancelled" });
    assert.equal(talk.types(), AGAIN);
    assert.equal(result(events).status, "failure");
  },
  async "a run that fails, and the one after it"() {
    const talk = new Conversation(`${thread}-error`);
    const toolCalls = [routed(`${thread}-7`, "careful", "count", { text: "a b" })];
    await talk.run({ forwardedProps: { toolCalls } });
    const open = talk.agent.pendingInterrupts;
    // The client itself refuses to leave a question open; what it would see is asked for past it.
    const input = { threadId: talk.agent.threadId, runId: `run-${++runs}`, messages: [], tools: [], context: [], state: {} };
    const answer = await fetch(`${url}/runs`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(input),
      signal: AbortSignal.timeout(20_000),
    });
    await answer.text();
    const failed = (await replay(talk.agent.threadId, input.runId)).map(({ data }) => data);
    assert.deepEqual(failed.map((event) => event.type), ["RUN_STARTED", "RUN_ERROR"]);
    assert.equal(failed[1].code, "INTERRUPTED");
    await verified(failed);
    talk.agent.pendingInterrupts = open;
    await talk.resume({ status: "resolved", payload: { decision: "approve_once" } });
    assert.equal(talk.types(), AGAIN);
  },
  async "an error run through the client"() {
    const talk = new Conversation(`${thread}-many`);
    const toolCalls = Array.from({ length: 65 }, (_, n) => routed(`${thread}-many-${n}`, "count_words", "count", { text: "a" }));
    await talk.run({ forwardedProps: { toolCalls } }).catch((error) => assert.match(String(error), /at most 64 calls/));
    assert.equal(talk.types(), "RUN_STARTED RUN_ERROR");
    assert.equal(talk.events[1].code, "TOO_MANY_CALLS");
  },
  async "calls that the client's own message makes"() {
    const talk = new Conversation(`${thread}-own`);
    const toolCalls = [call(`${thread}-8`, "count_words.count", { text: "one two three" })];
    talk.agent.messages.push({ id: `${thread}-a`, role: "assistant", toolCalls });
    const events = await talk.run();
    assert.equal(talk.types(), AGAIN);
    assert.equal(result(events).status, "success");
    assert.equal(talk.agent.messages.at(-1).toolCallId, `${thread}-8`);
  },
  async "a card with the result"() {
    const talk = new Conversation(`${thread}-card`);
    const toolCalls = [routed(`${thread}-9`, "contacts", "read", {})];
    // Whatever comes of the call, there is a card for it.
    let events = await talk.run({ forwardedProps: { toolCalls } });
    if (outcome(events) === "interrupt") events = await talk.resume({ status: "resolved", payload: { approved: true } });
    const told = events.find((event) => event.type === "TOOL_CALL_RESULT");
    assert.equal(told.metadata?.ui_schema?.type, "AdaptiveCard", JSON.stringify(told));
    assert.deepEqual(talk.agent.messages.at(-1).metadata?.ui_schema, told.metadata.ui_schema);
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}: ${error.stack ?? error}`);
  }
}
for (const complaint of new Set(complaints)) console.log(`the client complains: ${complaint}`);
process.exit(failed || complaints.length ? 1 : 0);
