import { defineRule } from "../../src/engine/rule.js";
import { DIGEST, isExactVersion, parseImage } from "../../src/model/image.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The image registry names each image once, with exact version and digest.",
    why: "It is the one place that all others are compared with: what is vague here is vague everywhere.",
    fix: "Give both keys a value name:exact-version@sha256:<64 hex>.",
    bad: "redis.minimum.image=redis:7.2\n",
    good: "redis.minimum.image=redis:7.2.4-alpine@sha256:c8bb255c3559b3e458766db810aa7b3c7af1235b204cfdb304e79ff388fe1a5a\n",
    source: {
      title: "OCI image spec: digests",
      url: "https://github.com/opencontainers/image-spec/blob/main/descriptor.md#digests",
    },
    rows: ["C-I03"],
  },
  messages: {
    missing: "the image registry has no {key}",
    duplicate: "{key} stands twice; the last value wins",
    version: "{key} names no exact version: {value}",
    digest: "{key} has no sha256 digest of 64 hexadecimal digits: {value}",
  },
  on: {
    ImageRegistry(registry, { contract, report }) {
      for (const key of [registry.minimumKey, registry.approvedKey]) {
        if (!registry.properties.some((p) => p.key === key) && (contract.declared || key === registry.minimumKey))
          report("missing", { key }, registry.head);
      }
      const seen = new Map<string, (typeof registry.properties)[number]>();
      for (const property of registry.properties) {
        const first = seen.get(property.key);
        if (first !== undefined)
          report("duplicate", { key: property.key }, property.keyAt, {
            related: [{ at: first.keyAt, message: "the first one" }],
          });
        else seen.set(property.key, property);
        if (!property.key.endsWith(".image")) continue;
        const image = parseImage(property.value);
        const data = { key: property.key, value: property.value === "" ? "nothing" : property.value };
        const place = property.value === "" ? property.keyAt : property.valueAt;
        if (image.tag === undefined || !isExactVersion(image.tag)) report("version", data, place);
        if (image.digest === undefined || !DIGEST.test(image.digest)) report("digest", data, place);
      }
    },
  },
});
