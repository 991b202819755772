import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "The manifests hold exactly the objects that the contract lists.",
    why: "An object that is missing or came along unnoticed, say a second NetworkPolicy or a Secret, changes what the deployment does without any check looking at it.",
    fix: "Add the object to kubernetes.inventory in quorumlint.yaml, or take it out of the manifests.",
    bad: "inventory:\n  - { kind: StatefulSet, name: redis-data }\n# and a NetworkPolicy that no entry names\n",
    good: "inventory:\n  - { kind: StatefulSet, name: redis-data }\n  - { kind: NetworkPolicy, name: redis-data }\n",
    source: {
      title: "quorumlint: contract file, kubernetes.inventory",
      url: "https://github.com/quorumlint/quorumlint/blob/main/docs/contract-file.md",
    },
    rows: ["C-K04"],
  },
  messages: {
    missing: "{object} is in the inventory and in no manifest",
    extra: "{object} is in no entry of the inventory",
    file: "{object} belongs in {wanted}, not in {file}",
    twice: "the inventory lists {object} twice",
  },
  on: {
    Contract(contract, { report }) {
      const inventory = contract.config.kubernetes?.inventory;
      if (inventory === undefined) return;
      const listed = new Map<string, { index: number; file: string | undefined }>();
      const place = (i: number) => contract.declaration("kubernetes", "inventory", i)!;
      inventory.forEach((entry, index) => {
        const key = `${entry.kind}/${entry.namespace ?? "*"}/${entry.name}`;
        const object = `${entry.kind} ${entry.name}`;
        if (listed.has(key))
          report("twice", { object }, place(index), {
            related: [{ at: place(listed.get(key)!.index), message: "the first entry" }],
          });
        else listed.set(key, { index, file: entry.file });
      });
      const found = new Set<string>();
      for (const object of contract.objects) {
        const exact = `${object.kind}/${object.namespace}/${object.name}`;
        const any = `${object.kind}/*/${object.name}`;
        const key = listed.has(exact) ? exact : any;
        const entry = listed.get(key);
        if (entry === undefined) report("extra", { object: object.title }, object.here);
        else if (found.has(`${exact}\n${object.input.file}`)) report("extra", { object: object.title }, object.here);
        else {
          if (entry.file !== undefined && entry.file !== object.input.file) {
            report("file", { object: object.title, wanted: entry.file, file: object.input.file }, object.here, {
              related: [{ at: place(entry.index), message: "the entry" }],
            });
          }
          found.add(key);
          found.add(`${exact}\n${object.input.file}`);
        }
      }
      for (const [key, { index }] of listed) {
        const entry = inventory[index]!;
        if (!found.has(key)) report("missing", { object: `${entry.kind} ${entry.name}` }, place(index));
      }
    },
  },
});
