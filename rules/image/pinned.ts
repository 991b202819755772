import { defineRule } from "../../src/engine/rule.js";
import { DIGEST, isExactVersion, parseImage } from "../../src/model/image.js";
import { hasToken } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Every image is name:exact-version@sha256:digest.",
    why: "A tag can be moved: the same manifest then starts another server on the next node, and a restart is an upgrade that nobody asked for.",
    fix: "Write the exact version and its digest: name:7.2.4-alpine@sha256:<64 hex>.",
    bad: "image: redis:7\n",
    good: "image: redis:7.2.4-alpine@sha256:c8bb255c3559b3e458766db810aa7b3c7af1235b204cfdb304e79ff388fe1a5a\n",
    source: {
      title: "Kubernetes: images, use image digests",
      url: "https://kubernetes.io/docs/concepts/containers/images/#updating-images",
    },
    rows: ["C-I01"],
  },
  messages: {
    missing: { text: "{container} has no image", inferred: "error" },
    untagged: { text: "the image {image} of {container} has no tag: that is latest", once: true },
    latest: { text: "the image {image} of {container} is latest", once: true },
    floating: {
      text: "the tag {tag} of {container} moves with every release",
      help: "Name a release down to its patch version.",
      once: true,
      inferred: "info",
    },
    digest: { text: "the image {image} of {container} has no digest", once: true },
    tagless: {
      text: "the image {image} of {container} has a digest and no tag: nobody can read which version it is",
      once: true,
      inferred: "info",
    },
    malformed: { text: "the digest of {image} is not sha256 with 64 hexadecimal digits", inferred: "error" },
  },
  on: {
    Container(container, { report }) {
      const text = container.image;
      if (text === undefined || text === "") {
        if (container.spec["image"] === undefined)
          report("missing", { container: container.title }, container.missing("image"));
        return;
      }
      if (hasToken(text)) return;
      const image = parseImage(text);
      const place = container.at("image");
      const data = { image: text, container: container.title };
      if (image.digest !== undefined && !DIGEST.test(image.digest)) report("malformed", { image: text }, place);
      if (image.tag === undefined) report(image.digest === undefined ? "untagged" : "tagless", data, place);
      else if (image.tag === "latest") report("latest", data, place);
      else if (!isExactVersion(image.tag)) report("floating", { ...data, tag: image.tag }, place);
      else if (image.digest === undefined) report("digest", data, place);
    },
  },
});
