import type { ConfStatement } from "../../document/redis-conf.js";
import type { Loading } from "./conf-load.js";
import { isImpossibleAddress } from "./conf-special.js";
import type { ConfValue, ConfValues } from "./conf-values.js";

/**
 * What goes wrong at start although each line is right: listeners, TLS, modules, replication. In the order in which the
 * servers look at them does not matter here: each fault is said.
 */
export function judgeStart(loading: Loading, values: ConfValues): void {
  judgeModules(loading);
  judgeFiles(loading, values);
  judgeListeners(loading, values);
  judgeTls(loading, values);
  judgeReplication(loading, values);
  judgeMemory(loading, values);
  if (loading.sentinelMode) judgeDataInSentinel(loading);
}

/** Options of the modules that Redis 8's images bring along; such a name is no mistake. */
const BUNDLED = /^(?:search|bf|cf|ts|cms|topk|tdigest|vset)-/;

function judgeModules(loading: Loading): void {
  for (const option of loading.moduleOptions) {
    const { name } = option.statement;
    if (loading.sentinelMode) {
      // A Sentinel loads no modules and never looks at the queue.
      loading.reportUnknown(option, "silent", undefined);
    } else if (loading.modules || !loading.closed || BUNDLED.test(name)) {
      // A module that is loaded may take it.
      loading.undecided();
    } else {
      loading.reportUnknown(
        option,
        "fatal",
        "Module Configuration detected without loadmodule directive or no ApplyConfig call: aborting",
      );
    }
  }
}

/** The statement to blame for a value; a default has none. */
function line(value: ConfValue): ConfStatement | undefined {
  return value.state === "absent" ? undefined : value.statement;
}

function judgeFiles(loading: Loading, values: ConfValues): void {
  const { file } = loading.input;
  if (file === undefined) return;
  for (const name of ["dir", "logfile"]) {
    const value = values.get(name);
    if (value.state !== "known" || value.statement === undefined || value.value === "") continue;
    const path = name === "dir" ? value.value : value.value.replace(/[^/]*$/, "");
    if (path === "" || file(path)?.exists !== false) continue;
    loading.report(
      { statement: value.statement },
      {
        code: "file-missing",
        class: "fatal",
        topic: "value",
        message:
          name === "dir"
            ? `the directory \`${path}\` is not there`
            : `the directory of \`${value.value}\` is not there`,
        server: name === "dir" ? "No such file or directory" : "Can't open the log file: No such file or directory",
        at: value.args[0]?.at,
      },
    );
  }
}

function judgeListeners(loading: Loading, values: ConfValues): void {
  const port = values.get("port");
  const tls = values.get("tls-port");
  const socket = values.isSet("unixsocket");
  const rdma = values.get("rdma-port");
  const bind = values.get("bind");
  const off = (v: ConfValue): boolean => v.state === "absent" || (v.state === "known" && v.value === "0");
  if (bind.state === "known" && bind.statement !== undefined) {
    for (const arg of bind.args) {
      const address = arg.value.split(/\s+/).find((a) => a !== "" && isImpossibleAddress(a));
      if (address === undefined) continue;
      loading.report(
        { statement: bind.statement },
        {
          code: address.startsWith("#") ? "trailing-comment" : "bad-address",
          class: off(port) && off(tls) ? "silent" : "fatal",
          topic: address.startsWith("#") ? "directive" : "listen",
          message: address.startsWith("#")
            ? "`#` starts a comment only at the start of a line: here it is read as an address"
            : `\`${address}\` is no address to listen on`,
          server: `Could not create server TCP listening socket ${address}: Name or service not known`,
          at: arg.at,
        },
      );
      break;
    }
  }
  const nowhere = bind.state === "absent" || (bind.state === "known" && bind.value === "");
  const closed = (off(port) && off(tls)) || (loading.dialect.v7 && nowhere);
  if (closed && socket === false && off(rdma)) {
    const blame = nowhere ? (line(bind) ?? line(port) ?? line(tls)) : (line(port) ?? line(tls));
    if (blame !== undefined) {
      loading.report(
        { statement: blame },
        {
          code: "no-listener",
          class: "fatal",
          topic: "listen",
          message:
            nowhere && !(off(port) && off(tls))
              ? "`bind` without an address: no TCP port is opened, and there is no Unix socket"
              : "`port 0` without `tls-port` or `unixsocket`: the server would listen nowhere",
          server: "Configured to not listen anywhere, exiting.",
        },
      );
    }
  }
  if (port.state === "known" && tls.state === "known" && port.value !== "0" && port.value === tls.value && !nowhere) {
    const blame = line(tls) ?? line(port);
    if (blame !== undefined) {
      loading.report(
        { statement: blame },
        {
          code: "same-port",
          class: "fatal",
          topic: "listen",
          message:
            port.from === "default"
              ? `\`tls-port\` is ${port.value}, which \`port\` is by default: without \`port 0\` it cannot be opened`
              : `\`port\` and \`tls-port\` are both ${port.value}: the second cannot be opened`,
          server: `Failed listening on port ${port.value} (${loading.dialect.v72 ? "tls" : "TLS"}), aborting.`,
          // A command line that is not known may set the port.
          certain: port.from !== "default" || (loading.input.arguments ?? []).length > 0,
        },
      );
    }
  }
  if (!loading.sentinelMode && values.flag("cluster-enabled") === true) {
    const used = tls.state === "known" && values.flag("tls-cluster") === true ? tls : port;
    const cluster = values.number("cluster-port");
    const blame = line(used);
    if (used.state === "known" && Number(used.value) > 55535 && (cluster === 0 || cluster === undefined) && blame) {
      loading.report(
        { statement: blame },
        {
          code: "cluster-port",
          class: "fatal",
          topic: "listen",
          message: "a cluster node's port may be 55535 at most: its bus listens 10000 ports above",
          server:
            "Redis port number too high. Cluster communication port is 10,000 port numbers higher than your Redis port. Your Redis port number must be 55535 or less.",
        },
      );
    }
  }
}

const PROTOCOLS = /^(?:tlsv1|tlsv1\.1|tlsv1\.2|tlsv1\.3)$/i;

/** Parts of OpenSSL's cipher names and its words for groups of ciphers. */
const CIPHER_PART =
  /^(?:ALL|COMPLEMENTOFALL|COMPLEMENTOFDEFAULT|DEFAULT|HIGH|MEDIUM|LOW|FIPS|[ek]?NULL|aNULL|[ak]?RSA|k?DHE?|k?EDH|ADH|k?EECDH|k?ECDHE?|AECDH|aDSS|DSS|aECDSA|ECDSA|TLSv1(?:\.[0-2])?|SSLv3|AES(?:128|256|GCM|CCM8?)?|ARIA(?:128|256|GCM)?|CAMELLIA(?:128|256)?|CHACHA20|POLY1305|GCM|CCM8?|CBC3?|3DES|DES|RC2|RC4|IDEA|SEED|MD5|SHA(?:1|256|384)?|a?GOST\w*|KUZNYECHIK|MAGMA|k?a?PSK|k?(?:ECDHE|DHE|RSA)PSK|a?k?SRP|SUITEB\w*|EXP|STREEBOG\w*|OMAC|STRENGTH|SECLEVEL=\d)$/i;

const CIPHERSUITES =
  /^TLS_(?:AES_(?:256_GCM_SHA384|128_GCM_SHA256|128_CCM_SHA256|128_CCM_8_SHA256)|CHACHA20_POLY1305_SHA256|SM4_(?:GCM|CCM)_SM3|SHA256_SHA256|SHA384_SHA384)$/;

/** OpenSSL refuses a list of which it knows no element. */
function knowsNone(list: string, separator: RegExp, known: (word: string) => boolean): boolean {
  const words = list.split(separator).filter((w) => w !== "");
  return words.length > 0 && !words.some(known);
}

function isCipher(word: string): boolean {
  return word
    .replace(/^[-!+@]/, "")
    .split(/[-+]/)
    .every((part) => CIPHER_PART.test(part));
}

function judgeTls(loading: Loading, values: ConfValues): void {
  const port = values.get("tls-port");
  const replication = values.get("tls-replication");
  const cluster = values.get("tls-cluster");
  const reason = [port, replication, cluster].find(
    (v) => v.state === "known" && v.statement !== undefined && v.value !== "0" && v.value !== "no",
  );
  const statement = reason && line(reason);
  const unused = [port, replication, cluster].every(
    (v) => v.state === "known" && (v.value === "0" || v.value === "no"),
  );
  if (unused) {
    const set = ["tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-ca-cert-dir"].map((n) => values.get(n));
    const first = set.find((v) => v.state !== "absent" && v.statement !== undefined);
    const blame = first && line(first);
    if (blame !== undefined) {
      loading.report(
        { statement: blame },
        {
          code: "tls-unused",
          class: "useless",
          topic: "tls",
          message: "certificates are named, but neither `tls-port` nor `tls-replication` is on: they are never loaded",
        },
      );
    }
    return;
  }
  if (statement === undefined) return;
  const fatal = (
    code: "tls-incomplete" | "tls-no-ca" | "tls-protocols" | "tls-ciphers" | "tls-file",
    message: string,
    error: string,
    value?: ConfValue,
  ): void => {
    const blame = (value && line(value)) ?? statement;
    const at = value !== undefined && value.state === "known" ? value.args[0]?.at : undefined;
    loading.report({ statement: blame }, { code, class: "fatal", topic: "tls", message, server: error, at });
  };
  const failed = "Failed to configure TLS. Check logs for more info.";
  const on = `\`${statement.name} ${statement.args[0]?.value ?? ""}\``;
  if (values.isSet("tls-cert-file") === false) {
    fatal(
      "tls-incomplete",
      `${on} needs \`tls-cert-file\`, which is not set`,
      `No tls-cert-file configured! / ${failed}`,
    );
  }
  if (values.isSet("tls-key-file") === false) {
    fatal(
      "tls-incomplete",
      `${on} needs \`tls-key-file\`, which is not set`,
      `No tls-key-file configured! / ${failed}`,
    );
  }
  const clients = values.get("tls-auth-clients");
  const verifies =
    (clients.state === "known" && clients.value !== "no") ||
    values.flag("tls-cluster") === true ||
    values.flag("tls-replication") === true;
  if (verifies && values.isSet("tls-ca-cert-file") === false && values.isSet("tls-ca-cert-dir") === false) {
    fatal(
      "tls-no-ca",
      "peers are verified (`tls-auth-clients`, `tls-replication` or `tls-cluster`), but neither `tls-ca-cert-file` nor `tls-ca-cert-dir` is set",
      `Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, tls-replication or tls-auth-clients are enabled! / ${failed}`,
    );
  }
  const protocols = values.get("tls-protocols");
  if (
    protocols.state === "known" &&
    protocols.value !== "" &&
    !protocols.value.split(" ").every((p) => PROTOCOLS.test(p))
  ) {
    fatal(
      "tls-protocols",
      `\`tls-protocols\` takes TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3, one blank apart, not \`${protocols.value}\``,
      `Invalid tls-protocols specified. Use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'. / ${failed}`,
      protocols,
    );
  }
  const ciphers = values.get("tls-ciphers");
  if (ciphers.state === "known" && ciphers.value !== "" && knowsNone(ciphers.value, /[:, ;]/, isCipher)) {
    fatal(
      "tls-ciphers",
      `\`tls-ciphers\` names no cipher that OpenSSL knows`,
      `Failed to configure ciphers: ${ciphers.value} / ${failed}`,
      ciphers,
    );
  }
  const suites = values.get("tls-ciphersuites");
  if (
    suites.state === "known" &&
    suites.value !== "" &&
    knowsNone(suites.value, /:/, (w) => CIPHERSUITES.test(w.trim()))
  ) {
    fatal(
      "tls-ciphers",
      "`tls-ciphersuites` names no TLS 1.3 suite that OpenSSL knows",
      `Failed to configure ciphersuites: ${suites.value} / ${failed}`,
      suites,
    );
  }
  const halves = [values.isSet("tls-client-cert-file"), values.isSet("tls-client-key-file")];
  if (halves.includes(true) && halves.includes(false)) {
    const set = values.get(halves[0] === true ? "tls-client-cert-file" : "tls-client-key-file");
    const blame = line(set);
    if (blame !== undefined) {
      loading.report(
        { statement: blame },
        {
          code: "tls-half-pair",
          class: "useless",
          topic: "tls",
          message:
            "`tls-client-cert-file` and `tls-client-key-file` count only together: the server's own pair is used",
        },
      );
    }
  }
  const pair = halves.every((h) => h === true);
  for (const kind of pair ? ["tls-", "tls-client-"] : ["tls-"]) {
    const key = judgeKeyPair(loading, values, `${kind}cert-file`, `${kind}key-file`);
    if (key !== undefined) {
      fatal(
        "tls-file",
        `the key of \`${kind}key-file\` does not belong to the certificate of \`${kind}cert-file\``,
        `Failed to load private key / ${failed}`,
        key,
      );
    }
  }
  for (const name of TLS_FILES) {
    if (name.startsWith("tls-client-") && !pair) continue;
    const value = values.get(name);
    if (value.state !== "known" || value.value === "") continue;
    const fact = loading.input.file?.(value.value);
    if (fact === undefined) continue;
    const wrong = fact.exists
      ? fact.text !== undefined && !PEM[name]!.test(fact.text)
        ? "holds nothing of the kind"
        : undefined
      : "is not there";
    if (wrong !== undefined) fatal("tls-file", `\`${value.value}\` of \`${name}\` ${wrong}`, failed, value);
  }
}

/** A key that does not belong to its certificate. */
function judgeKeyPair(loading: Loading, values: ConfValues, cert: string, key: string): ConfValue | undefined {
  const [a, b] = [values.get(cert), values.get(key)];
  if (a.state !== "known" || b.state !== "known") return undefined;
  const [one, two] = [loading.input.file?.(a.value)?.pair, loading.input.file?.(b.value)?.pair];
  return one !== undefined && two !== undefined && one !== two ? b : undefined;
}

/** `tls-ca-cert-dir` is not among them: a directory that is not there is not noticed at start. */
const TLS_FILES = [
  "tls-cert-file",
  "tls-key-file",
  "tls-ca-cert-file",
  "tls-dh-params-file",
  "tls-client-cert-file",
  "tls-client-key-file",
];

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/;
const KEY = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/;
const PEM: Record<string, RegExp> = {
  "tls-cert-file": CERTIFICATE,
  "tls-client-cert-file": CERTIFICATE,
  "tls-ca-cert-file": CERTIFICATE,
  "tls-key-file": KEY,
  "tls-client-key-file": KEY,
  "tls-dh-params-file": /-----BEGIN (?:X9\.42 )?DH PARAMETERS-----/,
};

function judgeReplication(loading: Loading, values: ConfValues): void {
  const of = values.get("replicaof");
  const statement = line(of);
  if (of.state === "known" && statement !== undefined && of.value !== "") {
    if (values.flag("cluster-enabled") === true) {
      loading.report(
        { statement },
        {
          code: "replica-in-cluster",
          class: "fatal",
          topic: "replication",
          message: "`replicaof` is not allowed together with `cluster-enabled yes`",
          server: "replicaof directive not allowed in cluster mode",
        },
      );
    }
    if (of.value.endsWith(" 0")) {
      loading.report(
        { statement },
        {
          code: "replica-port",
          class: "silent",
          topic: "replication",
          message: `\`replicaof ${of.value}\` names port 0: the replica never reaches a primary`,
          at: of.args[1]?.at,
        },
      );
    }
  }
  const user = values.get("masteruser");
  const userLine = line(user);
  if (
    !loading.sentinelMode &&
    userLine !== undefined &&
    values.isSet("masteruser") === true &&
    values.isSet("masterauth") === false
  ) {
    loading.report(
      { statement: userLine },
      {
        code: "user-without-password",
        class: "useless",
        topic: "replication",
        message: `\`${userLine.name}\` without \`${userLine.name.replace("user", "auth")}\`: the replica sends no AUTH at all`,
      },
    );
  }
  for (const name of ["replica-announce-port", "replica-announce-ip"]) {
    const value = values.get(name);
    const blame = line(value);
    if (value.state !== "known" || blame === undefined || (value.value !== "" && value.value !== "0")) continue;
    loading.report(
      { statement: blame },
      {
        code: "empty-announce",
        class: "useless",
        topic: "replication",
        message: `\`${blame.name} ${value.value === "" ? '""' : value.value}\` announces nothing: the address of the connection is used`,
      },
    );
  }
}

function judgeMemory(loading: Loading, values: ConfValues): void {
  const value = values.get("maxmemory");
  const statement = line(value);
  const bytes = values.number("maxmemory");
  if (loading.sentinelMode || value.state !== "known" || statement === undefined || bytes === undefined) return;
  if (bytes === 0 || bytes >= 1 << 20) return;
  loading.report(
    { statement },
    {
      code: "tiny-maxmemory",
      class: "silent",
      topic: "value",
      message: `\`maxmemory ${value.args[0]?.value ?? ""}\` is ${bytes} bytes: less than the empty server uses`,
      server: `WARNING: You specified a maxmemory value that is less than 1MB (current value is ${bytes} bytes). Are you sure this is what you really want?`,
      at: value.args[0]?.at,
    },
  );
}

/** Options of a data set, which a Sentinel does not have. */
const DATA_ONLY =
  /^(?:save|appendonly|appendfsync|appendfilename|appenddirname|dbfilename|databases|maxmemory(?:-.*)?|maxclients-.*|(?:masterauth|masteruser|primaryauth|primaryuser)|(?:min-(?:replicas|slaves)-.*)|(?:replica|slave)-.*|repl-.*|cluster-.*|lazyfree-.*|aof-.*|auto-aof-.*|rdb.*|stop-writes-on-bgsave-error|active-?defrag.*|notify-keyspace-events|.*-max-(?:listpack|ziplist|intset)-.*|no-appendfsync-on-rewrite)$/;

function judgeDataInSentinel(loading: Loading): void {
  for (const setting of loading.settings.values()) {
    const { statement, loaded } = setting;
    if (statement.name === "replicaof" || statement.name === "slaveof") {
      if (setting.value === "") continue;
      loading.report(loaded, {
        code: "replica-in-sentinel",
        class: "silent",
        topic: "sentinel",
        message: `\`${statement.name}\` makes the Sentinel itself a replica: it keeps trying to synchronize with that server`,
      });
      continue;
    }
    if (!DATA_ONLY.test(statement.name)) continue;
    const auth = /auth|user/.test(statement.name);
    loading.report(loaded, {
      code: "data-in-sentinel",
      class: "useless",
      topic: "sentinel",
      message: auth
        ? `\`${statement.name}\` has no effect in a Sentinel: it logs in with \`sentinel auth-user\` and \`sentinel auth-pass\``
        : `\`${statement.name}\` has no effect in a Sentinel`,
    });
  }
}
