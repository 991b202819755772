import { defineRule } from "../../src/engine/rule.js";
import { spinningLoops } from "../../src/model/shell/index.js";

export default defineRule({
  severity: "warning",
  docs: {
    summary: "A loop without an end pauses in every round.",
    why: "A loop that never sleeps takes all the CPU that its limit allows, and asks the servers as often as they answer.",
    fix: "Sleep in each round.",
    bad: "while true; do redis-cli ping; done\n",
    good: "while true; do redis-cli ping; sleep 5; done\n",
    source: { title: "POSIX: sleep", url: "https://pubs.opengroup.org/onlinepubs/9699919799/utilities/sleep.html" },
    rows: ["C-K27"],
  },
  messages: {
    spin: { text: "{container} goes round this loop without a pause", help: "Sleep in each round." },
  },
  on: {
    Container(container, { contract, report }) {
      for (const command of container.commands)
        for (const { place } of spinningLoops(contract.shell.program(command)))
          report("spin", { container: container.title }, place);
    },
  },
});
