/** Throw-away certificates for one run of the live lab, made with the `openssl` program. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The three authorities of the golden contract, and one that nobody trusts. */
export type Authority = "data" | "sentinel" | "client" | "rogue";

/** The leaves: what each plane presents, the defective ones of the experiments, and the clients'. */
export type Leaf =
  | "data"
  | "data-server-only"
  | "data-expired"
  | "data-other-name"
  | "sentinel"
  | "sentinel-rogue"
  | "client"
  | "probe";

export interface Certificates {
  certificate(leaf: Leaf): string;
  key(leaf: Leaf): string;
  /** A trust bundle of these authorities, as PEM. */
  bundle(authorities: readonly Authority[]): string;
}

interface LeafPlan {
  readonly issuer: Authority;
  readonly usage: string;
  readonly name: string;
  readonly days: number;
}

const DATA_NAME = "*.redis-data.redis-lab.svc.cluster.local";
const SENTINEL_NAME = "*.redis-sentinel.redis-lab.svc.cluster.local";
const BOTH = "serverAuth,clientAuth";

const leaves: Readonly<Record<Leaf, LeafPlan>> = {
  data: { issuer: "data", usage: BOTH, name: DATA_NAME, days: 2 },
  "data-server-only": { issuer: "data", usage: "serverAuth", name: DATA_NAME, days: 2 },
  "data-expired": { issuer: "data", usage: BOTH, name: DATA_NAME, days: -1 },
  "data-other-name": { issuer: "data", usage: BOTH, name: "other.example", days: 2 },
  sentinel: { issuer: "sentinel", usage: BOTH, name: SENTINEL_NAME, days: 2 },
  "sentinel-rogue": { issuer: "rogue", usage: BOTH, name: SENTINEL_NAME, days: 2 },
  client: { issuer: "client", usage: "clientAuth", name: "qualification", days: 2 },
  probe: { issuer: "client", usage: "clientAuth", name: "probe", days: 2 },
};

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Makes authorities and leaves in `directory`; throws when `openssl` is missing or refuses. */
export function makeCertificates(directory: string): Certificates {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const openssl = (...words: string[]): void => {
    execFileSync("openssl", words, { cwd: directory, stdio: ["ignore", "ignore", "pipe"] });
  };
  for (const authority of ["data", "sentinel", "client", "rogue"] satisfies Authority[]) {
    const subject = ["-subj", `/CN=${authority} authority`];
    openssl(
      "req",
      "-x509",
      ...NEW_KEY,
      "-keyout",
      `ca-${authority}.key`,
      "-out",
      `ca-${authority}.crt`,
      "-days",
      "2",
      ...subject,
    );
  }
  for (const [leaf, plan] of Object.entries(leaves)) {
    writeFileSync(join(directory, "extensions"), `extendedKeyUsage=${plan.usage}\nsubjectAltName=DNS:${plan.name}\n`);
    openssl("req", ...NEW_KEY, "-keyout", `${leaf}.key`, "-out", `${leaf}.csr`, "-subj", `/CN=${leaf}`);
    const authority = ["-CA", `ca-${plan.issuer}.crt`, "-CAkey", `ca-${plan.issuer}.key`, "-CAcreateserial"];
    const life = ["-days", String(plan.days), "-extfile", "extensions"];
    openssl("x509", "-req", "-in", `${leaf}.csr`, "-out", `${leaf}.crt`, ...authority, ...life);
  }
  const read = (name: string): string => readFileSync(join(directory, name), "utf8");
  return {
    certificate: (leaf) => read(`${leaf}.crt`),
    key: (leaf) => read(`${leaf}.key`),
    bundle: (authorities) => authorities.map((authority) => read(`ca-${authority}.crt`)).join(""),
  };
}
