/** Other values for a word: what a slip of the hand, a stale copy or a well-meant tuning puts in its place. */

export interface Change {
  readonly mutator: string;
  readonly text: string;
}

/** Groups of which each word stands for the next one: values that a field accepts and that mean something else. */
const ALTERNATIVES: readonly (readonly string[])[] = [
  ["Parallel", "OrderedReady"],
  ["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"],
  ["ClusterIP", "NodePort", "LoadBalancer"],
  ["Always", "IfNotPresent", "Never"],
  ["RuntimeDefault", "Unconfined"],
  ["TCP", "UDP"],
  ["Ingress", "Egress"],
  ["Retain", "Delete"],
  ["DoNotSchedule", "ScheduleAnyway"],
  ["AlwaysAllow", "IfHealthyBudget"],
  ["restricted", "baseline", "privileged"],
  ["RollingUpdate", "OnDelete"],
  ["ALL", "NET_ADMIN"],
  ["In", "NotIn"],
  ["Exists", "DoesNotExist"],
  ["kubernetes.io/hostname", "topology.kubernetes.io/zone"],
  ["noeviction", "allkeys-lru", "volatile-lru"],
  ["everysec", "always", "no"],
  ["redis-server", "redis-sentinel"],
  ["set", "get"],
];
const NEXT: ReadonlyMap<string, string> = new Map(
  ALTERNATIVES.flatMap((group) => group.map((word, i) => [word, group[(i + 1) % group.length]!] as const)),
);

const FLIPS: Readonly<Record<string, string>> = {
  yes: "no",
  no: "yes",
  on: "off",
  off: "on",
  true: "false",
  false: "true",
};

const UNITS: Readonly<Record<string, string>> = {
  m: "",
  Ki: "Mi",
  Mi: "Gi",
  Gi: "Mi",
  K: "M",
  M: "G",
  G: "M",
  kb: "mb",
  mb: "gb",
  gb: "mb",
  k: "m",
  s: "m",
  ms: "s",
  h: "m",
};

const OTHER_DIGEST = "0000000000000000000000000000000000000000000000000000000000000000";
const IMAGE = /^(?:[\w.-]+(?::\d+)?\/)*[\w.-]+:[\w.-]+(?:@sha256:[0-9a-f]+)?$/;

/** Names of numbers that somebody chose: one more or less is as good. */
const CHOSEN =
  /(?:Seconds|Threshold|Ms|Bytes|Items|milliseconds|timeout|max-lag)$|^(?:max|min|fixed|runAsUser|runAsGroup|fsGroup)$/;

/** Whether the number of a field is a choice, of which only nothing at all is surely wrong. */
export function isChosen(name: string): boolean {
  return CHOSEN.test(name);
}

/** The changes of one word; a word that nothing is known about is renamed. `port` words may look like `host:port`. */
export function* changesOf(word: string): Generator<Change> {
  const flip = FLIPS[word];
  if (flip !== undefined) {
    yield { mutator: "flip-boolean", text: flip };
    return;
  }
  const other = NEXT.get(word);
  if (other !== undefined) {
    yield { mutator: "other-enum", text: other };
    return;
  }
  if (/^\d{1,15}$/.test(word) && !/^0\d/.test(word)) {
    yield { mutator: "increment", text: String(Number(word) + 1) };
    if (Number(word) > 0) yield { mutator: "decrement", text: String(Number(word) - 1) };
    return;
  }
  const quantity = /^(\d+(?:\.\d+)?)([A-Za-z]{1,2})$/.exec(word);
  const unit = quantity === null ? undefined : UNITS[quantity[2]!];
  if (quantity !== null && unit !== undefined) {
    yield { mutator: "other-unit", text: `${quantity[1]}${unit}` };
    return;
  }
  if (/^\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}$/.test(word) || /^[0-9a-fA-F:]+\/\d{1,3}$/.test(word)) {
    yield { mutator: "widen-cidr", text: word.includes(":") ? "::/0" : "0.0.0.0/0" };
    return;
  }
  if (
    word.includes("@sha256:") ||
    (IMAGE.test(word) && /[:/]/.test(word) && /[a-z]/.test(word) && !/:\d+$/.test(word))
  ) {
    yield* imageChanges(word);
    return;
  }
  if (/^\$\{[A-Za-z_]\w*\}$/.test(word)) {
    yield /PASS|SECRET|TOKEN|KEY/i.test(word)
      ? { mutator: "plain-secret", text: "correct-horse-7Q" }
      : { mutator: "other-reference", text: word.replace("}", "_OTHER}") };
    return;
  }
  if (/^\/[\w./-]+$/.test(word)) {
    const slash = word.lastIndexOf("/");
    yield { mutator: "other-path", text: `${word.slice(0, slash)}/other-${word.slice(slash + 1)}` };
    return;
  }
  if (/^[\w$-]+(?:\.[\w-]+){2,}$/.test(word) && /[A-Za-z]/.test(word)) {
    yield { mutator: "other-host", text: `x-${word}` };
    return;
  }
  if (word === "*") return;
  if (word.includes("*")) {
    yield { mutator: "widen-pattern", text: "*" };
    return;
  }
  if (/[A-Za-z0-9]$/.test(word)) yield { mutator: "rename", text: `${word}-x` };
}

/** `[registry/]name:tag@sha256:digest` with one part changed or left out. */
export function* imageChanges(image: string): Generator<Change> {
  const at = image.indexOf("@");
  const name = at < 0 ? image : image.slice(0, at);
  const digest = at < 0 ? "" : image.slice(at);
  const colon = name.lastIndexOf(":");
  const repository = colon > name.lastIndexOf("/") ? name.slice(0, colon) : name;
  const tag = name.slice(repository.length + 1);
  if (tag !== "") {
    yield { mutator: "other-tag", text: `${repository}:${otherTag(tag)}${digest}` };
    yield { mutator: "drop-tag", text: `${repository}${digest}` };
  }
  if (digest !== "") {
    yield { mutator: "other-digest", text: `${name}@sha256:${OTHER_DIGEST}` };
    yield { mutator: "drop-digest", text: name };
  }
  yield { mutator: "other-registry", text: `registry.example.com/${image}` };
}

function otherTag(tag: string): string {
  const m = /^(.*?)(\d+)(\D*)$/.exec(tag);
  return m === null ? `${tag}-x` : `${m[1]}${Number(m[2]) + 1}${m[3]}`;
}
