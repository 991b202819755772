import { defineRule } from "../../src/engine/rule.js";
import { ROLE_TITLE } from "../../src/model/redis/roles.js";
import { wiringProblems } from "../../src/model/redis/wiring.js";

const BREAKS = {
  replica: "the replication link never comes up, and after a failover the old primary does not rejoin",
  control: "Sentinel takes every data server for down and no failover can happen",
  peer: "discovery works and SENTINEL CKQUORUM says OK at first, then the peers are taken for down: NOQUORUM, and a failover never happens",
} as const;

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Replicas and Sentinels authenticate as users that the other side's ACL has.",
    why: "The servers say nothing about a credential that is missing on their side: replicas stay empty, or Sentinels look healthy and never fail over.",
    fix: "Set masteruser and masterauth, sentinel auth-user and auth-pass, sentinel sentinel-user and sentinel-pass, each for an enabled user of the right ACL, each secret from a placeholder.",
    bad: "requirepass ${PASSWORD}\n# no masterauth\n",
    good: "aclfile /acl/users.acl\nmasteruser replica\nmasterauth ${REPLICA_PASSWORD}\n",
    source: {
      title: "Redis: Sentinel, access control list authentication",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#redis-access-control-list-authentication",
    },
    rows: ["C-R10"],
  },
  messages: {
    masterauth: {
      text: "requirepass is set and masterauth is not: a replica cannot authenticate, and after a failover the old primary does not rejoin",
      help: "Set masterauth to the same secret.",
    },
    "no-user": {
      text: "{directive} is not set while the default user of {list} is off: {breaks}",
      help: "Name the {role} user.",
    },
    "no-credentials": { text: "neither {directive} nor {pass} is set while {list} asks for authentication: {breaks}" },
    undeclared: {
      text: "{directive} is not set: the {role} user has no credentials here",
      inferred: "off",
    },
    "no-password": {
      text: "{directive} names {user} and {pass} is not set: no AUTH is sent, and {breaks}",
    },
    "unknown-user": { text: "{directive} names {user}, which {list} does not have{hint}: {breaks}" },
    "disabled-user": { text: "{directive} names {user}, which is off in {list}: {breaks}" },
    disabled: {
      text: "the {role} user {user} is off in {list}: nobody can log in as it",
      help: "Turn it on, or take it out of the contract's roles.",
      inferred: "off",
    },
    role: {
      text: "{directive} names {user}; the contract declares {wanted} as the {role} user",
      inferred: "off",
    },
    literal: {
      text: "{pass} holds a secret in plain text",
      help: "Leave a placeholder and fill it in where the file is rendered.",
      inferred: "off",
    },
    "other-password": { text: "{pass} holds {secret}, which is the password of {owner} and not of {user}: {breaks}" },
    "wrong-password": { text: "{pass} is not the password of {user} in the ACL: {breaks}" },
  },
  on: {
    Contract(contract, { report }) {
      for (const problem of wiringProblems(contract)) {
        const { kind, role, link, at, related } = problem;
        const of = link?.master === undefined ? "" : ` ${link.master}`;
        const data = {
          ...problem,
          directive: `${link?.userDirective}${of}`,
          pass: `${link?.passDirective}${of}`,
          role: ROLE_TITLE[role],
          breaks: link === undefined ? "" : BREAKS[link.role],
        };
        report(kind, data, at, { related });
      }
    },
  },
});
