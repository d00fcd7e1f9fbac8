// Serves my_tool.yaml: reads a request a line, writes an answer a line (docs/workers.md).
"use strict";

const commands = {
  greet(parameters, settings) {
    return { text: `${settings.greeting}, ${parameters.who}!` };
  },
};

require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const request = JSON.parse(line);
    const answer = { id: request.id };
    try {
      answer.result = await commands[request.command](request.parameters, request.settings);
    } catch (error) {
      // Standard error is for whoever writes the tool: `remit call --verbose` shows it.
      console.error(error);
      answer.error = { code: "FAILED", message: String(error.message) };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  });
