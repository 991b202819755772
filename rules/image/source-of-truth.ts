import { defineRule } from "../../src/engine/rule.js";
import { parseImage, serverOfImage } from "../../src/model/image.js";
import type { Container } from "../../src/model/kubernetes/workload.js";
import { hasToken } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Every Redis image is the one that the image registry names as minimum, tag and digest.",
    why: "Two places that name an image drift apart: the lab then qualifies one server and the cluster runs another.",
    fix: "Copy the value of redis.minimum.image, tag and digest.",
    bad: "redis.minimum.image=redis:7.2.4-alpine@sha256:aaaa…\n# and a manifest with redis:7.2.5-alpine@sha256:bbbb…\n",
    good: "redis.minimum.image=redis:7.2.4-alpine@sha256:aaaa…\n# and the same text in every manifest\n",
    source: {
      title: "Kubernetes: images, use image digests",
      url: "https://kubernetes.io/docs/concepts/containers/images/#updating-images",
    },
    rows: ["C-I02"],
  },
  messages: {
    drift: "{container} runs {image}, not {key}",
    approved: "{container} runs the approved image, which is not released yet; the manifests run {key}",
    differ: {
      text: "{container} runs {image}, and other containers of {object} run {other}: the same version with another digest",
      inferred: "error",
    },
  },
  fixable: true,
  on: {
    Container(container, { contract, report }) {
      const registry = contract.imageRegistry;
      const text = container.image;
      if (registry?.minimum === undefined || text === undefined || hasToken(text)) return;
      const wanted = registry.minimum.value.trim();
      if (text === wanted) return;
      const data = { container: container.title, image: text, key: registry.minimumKey };
      const place = container.at("image");
      const related = [{ at: registry.minimum.at, message: "the single source of truth" }];
      const fix = {
        description: `Use the image that ${registry.minimumKey} names`,
        edits: [{ span: place.span, newText: wanted }],
      };
      if (text === registry.approved?.value.trim())
        report("approved", data, place, {
          related: [...related, { at: registry.approved.at, message: "the approved image" }],
          fix,
        });
      else report("drift", data, place, { related, fix });
    },
    Workload(workload, { contract, report }) {
      if (contract.imageRegistry?.minimum !== undefined) return;
      const byVersion = new Map<string, Container>();
      for (const container of workload.containers) {
        const image = container.image === undefined ? undefined : parseImage(container.image);
        if (image?.digest === undefined || serverOfImage(image) === undefined || hasToken(image.text)) continue;
        const key = `${image.repository}:${image.tag ?? ""}`;
        const first = byVersion.get(key);
        if (first === undefined) byVersion.set(key, container);
        else if (parseImage(first.image!).digest !== image.digest) {
          report(
            "differ",
            { container: container.title, image: image.text, object: workload.title, other: first.image! },
            container.at("image"),
            { related: [{ at: first.at("image"), message: first.title }] },
          );
        }
      }
    },
  },
});
